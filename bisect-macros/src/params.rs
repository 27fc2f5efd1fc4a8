//! Parameters that are wanted twice: bound by the body, or passed on whole to the old function.
//!
//! `x` and `mut x` serve both, and `_` needs no more than a name. Any other pattern takes its argument apart, so the
//! parameter gets a fresh name and the body's branch matches it against the pattern. From the first such parameter on
//! all are treated so, each in a `match` of its own: then bindings and what the patterns leave over are dropped in the
//! order of the plain function, and temporaries of the body's last expression may borrow from them; from the bindings
//! of a `let` they could not before edition 2024. The price, compiled out too, is at most a move of an argument that
//! comes in memory.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::{Attribute, Error, FnArg, Pat, Signature, parse_quote};

use crate::errors::Errors;

/// The parameters of one function, as the expansion uses them.
pub(crate) struct Params {
    /// The arguments of the call of the old function.
    pub(crate) arguments: Vec<Ident>,
    /// Fresh names, with the patterns that the body wants.
    matched: Vec<(Ident, Pat)>,
}

impl Params {
    /// Gives every parameter of `sig` a name. Arguments are placed `at` the old function, for type errors to show
    /// there.
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

    /// The name of a parameter; `pat` is replaced by it where it is not a name yet.
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

    /// `body`, a block, with the user's patterns bound.
    pub(crate) fn bind(&self, body: TokenStream) -> TokenStream {
        if self.matched.is_empty() {
            return body;
        }
        let here = Span::mixed_site();
        let bound = self.matched.iter().rev().fold(body, |body, (fresh, pat)| match pat {
            Pat::Ident(plain) if is_plain(plain) => quote_spanned!(here=> match #fresh { #pat => #body }),
            // The argument first moves as a whole to where what the pattern leaves over is to be dropped; `mut` for the
            // sake of a `ref mut` in the pattern.
            _ => quote_spanned!(here=> match #fresh { mut #fresh => match #fresh { #pat => #body } }),
        });
        quote_spanned!(here=> { #bound })
    }
}

/// Returns whether this is `x` or `mut x`.
fn is_plain(pat: &syn::PatIdent) -> bool {
    pat.by_ref.is_none() && pat.subpat.is_none()
}

/// A name that the user's code cannot see. rustdoc and type errors do, so it is the user's own where there is one.
fn fresh_name(pat: &Pat, index: usize) -> Ident {
    match pat {
        Pat::Ident(pat) => respanned(pat.ident.clone(), Span::mixed_site()),
        _ => format_ident!("arg{index}", span = Span::mixed_site()),
    }
}

/// The same identifier elsewhere; `Ident::new` would not take a raw one.
fn respanned(mut ident: Ident, span: Span) -> Ident {
    ident.set_span(span);
    ident
}

fn refuse_cfg(attrs: &[Attribute], errors: &mut Errors) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr")) {
        errors.push(Error::new_spanned(attr, "a parameter that may be configured away cannot be passed on to `off`"));
    }
}
