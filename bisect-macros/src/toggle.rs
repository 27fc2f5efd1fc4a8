//! `#[bisect_toggle]`: two behaviours of a function.
//!
//! With `off`, the body is the new behaviour: `if decision { body } else { off(arguments) }`. Without `off`, the
//! function is a gate: it returns the decision, or the body's value if the toggle is not bisected. The body is not
//! moved to a closure, so `return`, `?` and `.await` in it keep their meaning.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::{Error, ExprPath, ReturnType, Safety, Signature, Type};

use crate::{
    args::{Args, Grammar, Key, Opt},
    decide::Decision,
    errors::Errors,
    fixes::Fix,
    function::Function,
    params::Params,
};

const GRAMMAR: Grammar = Grammar { usage: "`#[bisect_toggle]`", options: &[Opt::Off, Opt::By, Opt::Depth, Opt::Crate] };

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut errors = Errors::default();
    let args = Args::parse(args, &GRAMMAR, &mut errors);
    let (key, depth) = args.decided_by(Key::Stack, &mut errors);
    let mut function: Function = match syn::parse2(item) {
        Ok(function) => function,
        Err(error) => return errors.and(Err(error)),
    };
    refuse_unsupported(&function.sig, &args, &mut errors);
    if args.off.is_none() && args.are_right {
        refuse_other_than_bool(&function.sig, &mut errors);
    }

    let fix = Fix::of(&args.name, &mut errors);
    let decision = Decision { runtime: args.runtime(), name: &args.name, key, depth, value: None, fix };
    let body = match &args.off {
        Some(off) => new_or_old(&decision, off, &mut function, &mut errors),
        None => gate(&decision, &function),
    };
    errors.finish()?;
    if key == Key::Caller {
        function.ensure_attr("track_caller");
    }
    Ok(function.with_body(&body))
}

/// Returns the expression that evaluates the user's body or calls `off`.
fn new_or_old(decision: &Decision, off: &ExprPath, function: &mut Function, errors: &mut Errors) -> TokenStream {
    let here = Span::mixed_site();
    let params = Params::of(&mut function.sig, last_name(off), errors);
    let decision = decision.or(&quote_spanned!(here=> true));
    let new = params.bind(function.block());
    let old = call(off, &params, &function.sig);
    quote_spanned!(here=> if #decision #new else { #old })
}

/// Returns the expression for the decision, or for the value of the user's body.
fn gate(decision: &Decision, function: &Function) -> TokenStream {
    decision.or(&function.block())
}

/// Returns the old behaviour: a call of `off`. All its tokens have the location of the path.
fn call(off: &ExprPath, params: &Params, sig: &Signature) -> TokenStream {
    let (path, at, arguments) = (ours(off.to_token_stream()), last_name(off), &params.arguments);
    let call = quote_spanned!(ours_at(at)=> #path(#(#arguments),*));
    let here = Span::mixed_site();
    let call = match sig.safety {
        // The block has no location in the user's code, so it is not reported as unused if `off` is safe.
        Safety::Unsafe(_) => quote_spanned!(here=> unsafe { #call }),
        Safety::Safe(_) | Safety::Default => call,
    };
    match sig.asyncness {
        Some(_) => quote_spanned!(ours_at(at)=> #call.await),
        None => call,
    }
}

/// Returns the path with the hygiene of this macro, so that the compiler does not suggest corrections of a call that is
/// not in the source.
fn ours(path: TokenStream) -> TokenStream {
    let ours = |mut token: TokenTree| {
        match &mut token {
            TokenTree::Group(group) => {
                let span = group.span();
                *group = Group::new(group.delimiter(), ours(group.stream()));
                group.set_span(ours_at(span));
            }
            // It cannot be resolved without its own hygiene.
            TokenTree::Ident(word) if word == "$crate" => {}
            token => token.set_span(ours_at(token.span())),
        }
        token
    };
    path.into_iter().map(ours).collect()
}

fn ours_at(at: Span) -> Span {
    Span::mixed_site().located_at(at)
}

/// Returns the span of the function's own name in its path.
fn last_name(off: &ExprPath) -> Span {
    off.path.segments.last().map_or_else(Span::call_site, |segment| segment.ident.span())
}

fn refuse_unsupported(sig: &Signature, args: &Args, errors: &mut Errors) {
    if let Some(token) = sig.constness {
        let text = "a `const fn` cannot ask while the program runs: use `bisect_build!` in its body";
        errors.push(Error::new(token.span, text));
    }
    if let Some(variadic) = &sig.variadic {
        let text = "variadic arguments cannot be passed on, and a gate has no use for them";
        errors.push(Error::new_spanned(variadic.dots, text));
    }
    if args.off.is_some()
        && let ReturnType::Type(_, ty) = &sig.output
        && let Some(span) = impl_in(ty.to_token_stream())
    {
        let text = "with `off` two functions return this, and the `impl Trait` of each is a type of its own: \
                    name the type, or return `Box<dyn Trait>`";
        errors.push(Error::new(span, text));
    }
    let Some((Key::Caller, by)) = args.by else { return };
    if sig.asyncness.is_some() {
        errors.push(Error::new(by, "an `async fn` does not know its caller: use \"stack\" or \"site\""));
    }
    if let Some(abi) = &sig.abi
        && abi.name.as_ref().is_none_or(|name| name.value() != "Rust")
    {
        let text = "a function of a foreign ABI does not know its caller: use \"stack\" or \"site\"";
        errors.push(Error::new(by, text));
    }
}

/// Returns the span of the first `impl` in a type.
fn impl_in(ty: TokenStream) -> Option<Span> {
    ty.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) => (word == "impl").then(|| word.span()),
        TokenTree::Group(group) => impl_in(group.stream()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

fn refuse_other_than_bool(sig: &Signature, errors: &mut Errors) {
    const TEXT: &str = "a gate returns bool; or name the old behaviour with `off = …`";
    match &sig.output {
        ReturnType::Default => errors.push(Error::new(sig.ident.span(), TEXT)),
        ReturnType::Type(_, ty) if !is_bool(ty) => errors.push(Error::new_spanned(ty, TEXT)),
        ReturnType::Type(..) => {}
    }
}

/// Returns true if the type is `bool`, by any path. Aliases are not resolved.
fn is_bool(ty: &Type) -> bool {
    match ty {
        Type::Group(group) => is_bool(&group.elem),
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|segment| segment.to_token_stream().to_string() == "bool")
        }
        _ => false,
    }
}
