//! The question that a toggle asks while the program runs.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::{Expr, LitStr};

use crate::{args::Key, fixes::Fix, variable::FIX};

/// A decision, before it is made.
pub(crate) struct Decision<'a> {
    /// The path of the runtime.
    pub(crate) runtime: TokenStream,
    pub(crate) name: &'a LitStr,
    pub(crate) key: Key,
    pub(crate) depth: u8,
    /// A value that is mixed into the ID.
    pub(crate) value: Option<&'a Expr>,
    /// The state that this build gives to the toggle.
    pub(crate) fix: Fix,
}

impl Decision<'_> {
    /// A `bool` expression: the decision, or `default` without a search.
    pub(crate) fn or(&self, default: &TokenStream) -> TokenStream {
        let Self { runtime, name, value, .. } = self;
        let here = Span::mixed_site();
        let key = match self.key {
            Key::Site => quote_spanned!(here=> site),
            Key::Caller => quote_spanned!(here=> caller),
            Key::Stack => quote_spanned!(here=> stack),
        };
        let depth = Literal::u8_unsuffixed(self.depth);
        let value = value.map(|value| quote_spanned!(here=> &(#value)));
        let value = value.map_or_else(|| quote_spanned!(here=> ()), |value| quote_spanned!(here=> (#value)));
        let fixed = self.fix.word();
        quote_spanned!(here=>
            #runtime::__decide!(
                name: #name, key: #key, depth: #depth, value: #value, variable: #FIX, fixed: #fixed, default: #default
            )
        )
    }
}
