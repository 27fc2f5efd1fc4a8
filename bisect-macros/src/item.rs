//! An item, divided at the position where other items can be inserted: after it, in its body or in its value.
//!
//! Functions and constants may be in an `impl` or a trait, which can contain associated items only. So other items are
//! inserted into the body of a function and into the value of a constant.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, TokenStreamExt, quote, quote_spanned};
use syn::{
    Attribute, Generics, Token, Type, Visibility,
    ext::IdentExt,
    parse::{Parse, ParseStream, Parser},
    token::Brace,
};

use crate::function::is_function;

/// An item, divided at the position where other items can be inserted.
pub(crate) struct Item {
    before: TokenStream,
    after: After,
}

/// The rest of an item.
enum After {
    /// Nothing: other items are inserted after the item.
    Nothing,
    /// A body: its braces, its inner attributes, and the rest.
    Body(Brace, Vec<Attribute>, TokenStream),
    /// A value, without its semicolon.
    Value(TokenStream),
}

impl Item {
    /// Returns the item with `others` inserted.
    pub(crate) fn with(self, others: &TokenStream) -> TokenStream {
        let mut tokens = self.before;
        match self.after {
            After::Nothing => others.to_tokens(&mut tokens),
            After::Body(brace, inner_attrs, body) => brace.surround(&mut tokens, |block| {
                block.append_all(inner_attrs);
                others.to_tokens(block);
                body.to_tokens(block);
            }),
            After::Value(value) => tokens.extend(quote_spanned!(Span::mixed_site()=> { #others #value };)),
        }
        tokens
    }
}

impl Parse for Item {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        let vis: Visibility = input.parse()?;
        let defaultness: Option<Token![default]> = input.parse()?;
        let mut before = quote!(#(#attrs)* #vis #defaultness);
        let after = if is_function(input) {
            body(input, &mut before)?
        } else if input.peek(Token![const]) || input.peek(Token![static]) {
            value(input, &mut before)?
        } else if input.peek(Token![type]) {
            return Err(input.error("a type alias has no room for the record of the decision"));
        } else {
            before.extend(input.parse::<TokenStream>()?);
            After::Nothing
        };
        Ok(Self { before, after })
    }
}

/// Parses a function. The tokens before its body are added to `before`.
fn body(input: ParseStream, before: &mut TokenStream) -> syn::Result<After> {
    loop {
        if input.peek(Token![;]) {
            return Err(input.error("a function without a body has no room for the record of the decision"));
        }
        let token: TokenTree = input.parse()?;
        match token {
            // The last group in braces is the body. Types may have braces, too: `-> Array<{ N }>`.
            TokenTree::Group(group) if input.is_empty() && group.delimiter() == Delimiter::Brace => {
                let parts = |content: ParseStream| Ok((content.call(Attribute::parse_inner)?, content.parse()?));
                let (inner_attrs, body) = parts.parse2(group.stream())?;
                return Ok(After::Body(Brace { span: group.delim_span() }, inner_attrs, body));
            }
            other => before.extend([other]),
        }
    }
}

/// Parses a constant or a static. The tokens up to the `=` are added to `before`.
fn value(input: ParseStream, before: &mut TokenStream) -> syn::Result<After> {
    let keyword: TokenTree = input.parse()?;
    let mutability: Option<Token![mut]> = input.parse()?;
    let name = input.call(Ident::parse_any)?;
    let generics: Generics = input.parse()?;
    let colon: Token![:] = input.parse()?;
    let ty: Type = input.parse()?;
    if input.peek(Token![;]) {
        return Err(input.error("a constant without a value has no room for the record of the decision"));
    }
    let equals: Token![=] = input.parse()?;
    before.extend(quote!(#keyword #mutability #name #generics #colon #ty #equals));

    let mut value = TokenStream::new();
    while !input.peek(Token![;]) {
        value.extend([input.parse::<TokenTree>()?]);
    }
    input.parse::<Token![;]>()?;
    Ok(After::Value(value))
}
