//! A function: parsed up to its body, which stays a sequence of tokens.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, TokenStreamExt};
use syn::{
    Attribute, Error, LitStr, Signature, Token, Visibility, braced,
    parse::{Parse, ParseStream},
    token::Brace,
};

/// A function with a body, free or in an `impl` or a trait.
pub(crate) struct Function {
    pub(crate) attrs: Vec<Attribute>,
    vis: Visibility,
    defaultness: Option<Token![default]>,
    pub(crate) sig: Signature,
    brace: Brace,
    /// The attributes at the start of the body. A block within it could not have them.
    inner_attrs: Vec<Attribute>,
    /// The body without its inner attributes and braces.
    body: TokenStream,
}

impl Parse for Function {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis = input.parse()?;
        let defaultness = input.parse()?;
        if !is_function(input) {
            return Err(input.error("`#[bisect_toggle]` marks functions only"));
        }
        let sig: Signature = input.parse()?;
        if input.peek(Token![;]) {
            return Err(Error::new(sig.ident.span(), "a toggle needs a body: the new behaviour"));
        }
        let content;
        let brace = braced!(content in input);
        let inner_attrs = content.call(Attribute::parse_inner)?;
        let body = content.parse()?;
        Ok(Self { attrs, vis, defaultness, sig, brace, inner_attrs, body })
    }
}

impl Function {
    /// Returns the body as a block. It has the user's braces, because their edition decides when temporaries are
    /// dropped.
    pub(crate) fn block(&self) -> TokenStream {
        let mut block = TokenStream::new();
        self.brace.surround(&mut block, |block| block.extend(self.body.clone()));
        block
    }

    /// Returns this function with another body.
    pub(crate) fn with_body(&self, body: &TokenStream) -> TokenStream {
        let Self { attrs, vis, defaultness, sig, .. } = self;
        let mut function = TokenStream::new();
        function.append_all(attrs);
        vis.to_tokens(&mut function);
        defaultness.to_tokens(&mut function);
        sig.to_tokens(&mut function);
        self.brace.surround(&mut function, |block| {
            block.append_all(&self.inner_attrs);
            body.to_tokens(block);
        });
        function
    }

    /// Adds `#[name]` unless the function has it.
    pub(crate) fn ensure_attr(&mut self, name: &str) {
        if !self.attrs.iter().any(|attr| attr.path().is_ident(name)) {
            let name = syn::Ident::new(name, Span::mixed_site());
            self.attrs.push(syn::parse_quote_spanned!(Span::mixed_site()=> #[#name]));
        }
    }
}

/// Returns true if a function begins here, after its visibility.
pub(crate) fn is_function(input: ParseStream) -> bool {
    let ahead = input.fork();
    loop {
        if ahead.peek(Token![fn]) {
            return true;
        }
        let qualifier = ahead.peek(Token![const])
            || ahead.peek(Token![async])
            || ahead.peek(Token![unsafe])
            || ahead.peek(Token![extern])
            || ahead.peek(LitStr);
        if !qualifier || ahead.parse::<proc_macro2::TokenTree>().is_err() {
            return false;
        }
    }
}
