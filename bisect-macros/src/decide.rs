//! The decision of a toggle at run time, as an expression.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::{Expr, LitStr};

use crate::{args::Key, fixes::Fix, variable::FIX};

/// The parts of the expression that makes a decision.
pub(crate) struct Decision<'a> {
    /// The path of the runtime.
    pub(crate) runtime: TokenStream,
    pub(crate) name: &'a LitStr,
    pub(crate) key: Key,
    pub(crate) depth: u8,
    /// A value that becomes part of the ID.
    pub(crate) value: Option<&'a Expr>,
    /// The state in which this build fixes the toggle, if it does.
    pub(crate) fix: Fix,
}

impl Decision<'_> {
    /// Returns a `bool` expression: the decision, or `default` if the toggle is not bisected.
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
