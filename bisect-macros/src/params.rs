//! Parameters with two uses: the body binds their patterns, and the old function gets the whole arguments.
//!
//! `x` and `mut x` are suitable for both uses, and `_` only needs a name. Any other pattern may bind parts of its
//! argument. So the parameter gets a fresh name, and the body's branch matches that name against the pattern. All
//! parameters after the first one of this kind also get a fresh name, each with a `match` of its own. So the bindings,
//! and the parts of arguments that no pattern binds, are dropped in the order of the original function. With `let`
//! instead of `match`, temporaries of the body's last expression could not borrow from the bindings before edition
//! 2024. The cost, also with `--cfg bisect_off`, is at most one move of each argument that is passed in memory.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Attribute, Error, FnArg, Pat, Signature, parse_quote};

use crate::errors::Errors;

/// The parameters of one function, as the expansion uses them.
pub(crate) struct Params {
    /// The arguments of the call of the old function.
    pub(crate) arguments: Vec<Ident>,
    /// Fresh names, and the patterns of the user that are matched against them.
    matched: Vec<(Ident, Pat)>,
}

impl Params {
    /// Gives every parameter of `sig` a name. The arguments get the location `at`, that of the old function, so that
    /// type errors are shown there.
    pub(crate) fn of(sig: &mut Signature, at: Span, errors: &mut Errors) -> Self {
        let mut params = Self { arguments: Vec::new(), matched: Vec::new() };
        for (index, input) in sig.inputs.iter_mut().enumerate() {
            let (attrs, name) = match input {
                FnArg::Receiver(receiver) => (&receiver.attrs, Ident::from(receiver.self_token)),
                FnArg::Typed(typed) => (&typed.attrs, params.name(&mut typed.pat, index)),
            };
            refuse_cfg(attrs, errors);
            // `located_at` keeps the hygiene, by which the name is found.
            params.arguments.push(respanned(name.clone(), name.span().located_at(at)));
        }
        params
    }

    /// Returns the name of a parameter. A `pat` that cannot be passed on is replaced by a fresh name.
    fn name(&mut self, pat: &mut Pat, index: usize) -> Ident {
        let all_plain = self.matched.is_empty();
        match pat {
            Pat::Ident(plain) if all_plain && is_plain(plain) && !plain.ident.to_string().starts_with('_') => {
                plain.ident.clone()
            }
            _ => {
                let fresh = fresh_name(pat, index);
                let pat = std::mem::replace(pat, parse_quote!(#fresh));
                if !(all_plain && matches!(pat, Pat::Wild(_))) {
                    self.matched.push((fresh.clone(), pat));
                }
                fresh
            }
        }
    }

    /// Returns `body`, a block, in an expression that binds the user's patterns.
    pub(crate) fn bind(&self, body: TokenStream) -> TokenStream {
        if self.matched.is_empty() {
            return body;
        }
        let here = Span::mixed_site();
        let bound = self.matched.iter().rev().fold(body, |body, (fresh, pat)| match pat {
            Pat::Ident(plain) if is_plain(plain) => quote_spanned!(here=> match #fresh { #pat => #body }),
            // The argument is first moved to a binding, which drops the parts that the pattern does not bind. That
            // binding is `mut`, because the pattern may contain `ref mut`.
            _ => quote_spanned!(here=> match #fresh { mut #fresh => match #fresh { #pat => #body } }),
        });
        quote_spanned!(here=> { #bound })
    }
}

/// Returns true if the pattern is `x` or `mut x`.
fn is_plain(pat: &syn::PatIdent) -> bool {
    pat.by_ref.is_none() && pat.subpat.is_none()
}

/// Returns a name that the user's code cannot refer to. rustdoc and type errors show it, so it has the text of the
/// user's name if there is one.
fn fresh_name(pat: &Pat, index: usize) -> Ident {
    match pat {
        Pat::Ident(pat) => respanned(pat.ident.clone(), Span::mixed_site()),
        _ => format_ident!("arg{index}", span = Span::mixed_site()),
    }
}

/// Returns the identifier with another span. `Ident::new` would refuse a raw identifier.
fn respanned(mut ident: Ident, span: Span) -> Ident {
    ident.set_span(span);
    ident
}

fn refuse_cfg(attrs: &[Attribute], errors: &mut Errors) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")) {
        errors.push(Error::new_spanned(attr, "a parameter that may be configured away cannot be passed on to `off`"));
    }
}
