//! The facts about one Rust file that the rules need, from its syntax tree.

use proc_macro2::{TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemImpl, ItemMod, ItemUse, Meta, Token, Type, UseTree, Visibility};

/// The facts about one module: a file, or an inline `mod`. Test code is left out.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// The inline modules around it, outermost first. Empty for the file itself.
    pub(crate) inline: Vec<String>,
    /// `mod name;` declarations.
    pub(crate) children: Vec<Child>,
    /// Names of items that are defined here.
    pub(crate) items: Vec<String>,
    /// Types and traits that are defined here.
    pub(crate) types: Vec<Definition>,
    /// Imports, each with the name it introduces.
    pub(crate) uses: Vec<Import>,
    /// Paths of two segments or more in code, attributes and macro calls.
    pub(crate) paths: Vec<PathAt>,
    /// String literals, without doc comments.
    pub(crate) literals: Vec<Literal>,
    /// Inherent `impl` blocks.
    pub(crate) impls: Vec<Inherent>,
    /// Traits, with the names and lines of their methods.
    pub(crate) traits: Vec<TraitMethods>,
    /// Methods that are called without arguments.
    pub(crate) bare_calls: Vec<(String, usize)>,
    /// The last names of the values whose method `spawn` is called with arguments.
    pub(crate) spawners: Vec<(String, usize)>,
}

/// A module in a file of its own.
#[derive(Debug)]
pub(crate) struct Child {
    pub(crate) name: String,
    /// The value of `#[path]`.
    pub(crate) path: Option<String>,
    pub(crate) is_test: bool,
    pub(crate) cfg: Vec<String>,
}

/// A definition of a type or trait.
#[derive(Debug, Clone)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) cfg: Vec<String>,
}

/// One name that a `use` introduces; `*` for all names of a module.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    pub(crate) name: String,
    pub(crate) is_public: bool,
    pub(crate) line: usize,
}

#[derive(Debug)]
pub(crate) struct PathAt {
    pub(crate) segments: Vec<String>,
    pub(crate) line: usize,
}

#[derive(Debug)]
pub(crate) struct Literal {
    pub(crate) text: String,
    pub(crate) line: usize,
}

/// The methods of a trait.
#[derive(Debug)]
pub(crate) struct TraitMethods {
    pub(crate) name: String,
    /// Their names and lines.
    pub(crate) methods: Vec<(String, usize)>,
}

/// An `impl` block without a trait.
#[derive(Debug)]
pub(crate) struct Inherent {
    pub(crate) of: String,
    pub(crate) line: usize,
    /// Methods that are visible outside their module, with their lines.
    pub(crate) public_methods: Vec<(String, usize)>,
}

/// Returns the facts about a file, and about each of its inline modules.
pub(crate) fn of_file(file: &File) -> Vec<Facts> {
    let mut collector = Collector { done: Vec::new(), open: vec![Facts::default()], cfg: Vec::new() };
    collector.visit_file(file);
    let own = collector.open.pop().expect("the file's own facts are still open");
    collector.done.push(own);
    collector.done
}

struct Collector {
    done: Vec<Facts>,
    open: Vec<Facts>,
    cfg: Vec<String>,
}

impl Collector {
    fn here(&mut self) -> &mut Facts {
        self.open.last_mut().expect("a module is open")
    }

    /// Notes the definitions that an item makes in its module.
    fn define(&mut self, item: &Item) {
        let (ident, is_type) = match item {
            Item::Struct(item) => (&item.ident, true),
            Item::Enum(item) => (&item.ident, true),
            Item::Union(item) => (&item.ident, true),
            Item::Trait(item) => (&item.ident, true),
            Item::Type(item) => (&item.ident, true),
            Item::Fn(item) => (&item.sig.ident, false),
            Item::Const(item) => (&item.ident, false),
            Item::Static(item) => (&item.ident, false),
            Item::Macro(item) => match &item.ident {
                Some(ident) => (ident, false),
                None => return,
            },
            _ => return,
        };
        let (name, line) = (ident.unraw().to_string(), ident.span().start().line);
        self.here().items.push(name.clone());
        if is_type {
            let cfg = self.cfg.clone();
            self.here().types.push(Definition { name, line, cfg });
        }
    }

    /// Notes the paths and string literals in the tokens of a macro call or an attribute.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let (mut line, mut colons) = (0, 0);
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.end_path(&mut path, line);
                        line = ident.span().start().line;
                    }
                    path.push(ident.unraw().to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end_path(&mut path, line);
                    colons = 0;
                    self.scan(group.stream());
                }
                TokenTree::Literal(literal) => {
                    self.end_path(&mut path, line);
                    colons = 0;
                    let line = literal.span().start().line;
                    if let syn::Lit::Str(text) = syn::Lit::new(literal) {
                        self.here().literals.push(Literal { text: text.value(), line });
                    }
                }
                TokenTree::Punct(_) => {
                    self.end_path(&mut path, line);
                    colons = 0;
                }
            }
        }
        self.end_path(&mut path, line);
    }

    fn end_path(&mut self, path: &mut Vec<String>, line: usize) {
        let segments = std::mem::take(path);
        if segments.len() > 1 {
            self.here().paths.push(PathAt { segments, line });
        }
    }

    fn import(&mut self, tree: &UseTree, prefix: &mut Vec<String>, is_public: bool) {
        let add = |facts: &mut Facts, path: Vec<String>, name: String, line| {
            facts.uses.push(Import { path, name, is_public, line });
        };
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.unraw().to_string());
                self.import(&path.tree, prefix, is_public);
                prefix.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, prefix, is_public);
                }
            }
            UseTree::Glob(glob) => add(self.here(), prefix.clone(), "*".to_owned(), glob.span().start().line),
            UseTree::Name(name) => {
                let (ident, line) = (name.ident.unraw().to_string(), name.ident.span().start().line);
                let path = extended(prefix, &ident);
                let ident = path.last().cloned().unwrap_or(ident);
                add(self.here(), path, ident, line);
            }
            UseTree::Rename(rename) => {
                let (ident, line) = (rename.ident.unraw().to_string(), rename.ident.span().start().line);
                add(self.here(), extended(prefix, &ident), rename.rename.unraw().to_string(), line);
            }
        }
    }
}

/// Returns the path of a name in a `use`; `self` stands for the path before it.
fn extended(prefix: &[String], name: &str) -> Vec<String> {
    let mut path = prefix.to_vec();
    if name != "self" || prefix.is_empty() {
        path.push(name.to_owned());
    }
    path
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = attributes(item);
        if is_test(attributes) {
            if let Item::Mod(item) = item
                && item.content.is_none()
            {
                self.here().children.push(child(item, true, &[]));
            }
            return;
        }
        let outer = self.cfg.len();
        self.cfg.extend(cfgs(attributes));
        self.define(item);
        visit::visit_item(self, item);
        self.cfg.truncate(outer);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        for attribute in &item.attrs {
            self.visit_attribute(attribute);
        }
        let Some((_, items)) = &item.content else {
            let child = child(item, false, &self.cfg.clone());
            self.here().children.push(child);
            return;
        };
        let mut inline = self.here().inline.clone();
        inline.push(item.ident.unraw().to_string());
        self.open.push(Facts { inline, ..Facts::default() });
        for item in items {
            self.visit_item(item);
        }
        let facts = self.open.pop().expect("the module that was opened above");
        self.done.push(facts);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let is_public = !matches!(item.vis, Visibility::Inherited);
        self.import(&item.tree, &mut Vec::new(), is_public);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if item.trait_.is_none()
            && let Type::Path(of) = &*item.self_ty
            && let Some(name) = of.path.segments.last()
        {
            let mut public_methods = Vec::new();
            for item in &item.items {
                if let syn::ImplItem::Fn(method) = item
                    && !matches!(method.vis, Visibility::Inherited)
                    && !is_test(&method.attrs)
                {
                    public_methods.push((method.sig.ident.to_string(), method.sig.ident.span().start().line));
                }
            }
            let line = item.impl_token.span.start().line;
            self.here().impls.push(Inherent { of: name.ident.to_string(), line, public_methods });
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let methods = item.items.iter().filter_map(|item| match item {
            syn::TraitItem::Fn(method) if !is_test(&method.attrs) => {
                Some((method.sig.ident.to_string(), method.sig.ident.span().start().line))
            }
            _ => None,
        });
        let methods = methods.collect();
        self.here().traits.push(TraitMethods { name: item.ident.to_string(), methods });
        visit::visit_item_trait(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.args.is_empty() {
            let line = call.method.span().start().line;
            self.here().bare_calls.push((call.method.to_string(), line));
        } else if call.method == "spawn" {
            let name = match &*call.receiver {
                syn::Expr::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
                syn::Expr::Field(syn::ExprField { member: syn::Member::Named(name), .. }) => Some(name.to_string()),
                _ => None,
            };
            let line = call.method.span().start().line;
            self.here().spawners.extend(name.map(|name| (name, line)));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            let segments = path.segments.iter().map(|segment| segment.ident.unraw().to_string()).collect();
            let line = path.segments[0].ident.span().start().line;
            self.here().paths.push(PathAt { segments, line });
        }
        visit::visit_path(self, path);
    }

    /// Skips `pub(in crate::room)`, which limits callers and names no callee.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        match &attribute.meta {
            Meta::List(list) => self.scan(list.tokens.clone()),
            _ => visit::visit_attribute(self, attribute),
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        // The tokens of these macros are code of another crate.
        if !matches!(&*name, "quote" | "quote_spanned" | "parse_quote" | "parse_quote_spanned") {
            self.scan(call.tokens.clone());
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        let line = literal.span().start().line;
        self.here().literals.push(Literal { text: literal.value(), line });
    }
}

fn child(item: &ItemMod, is_test: bool, cfg: &[String]) -> Child {
    let path = item.attrs.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    });
    Child { name: item.ident.unraw().to_string(), path, is_test, cfg: cfg.to_vec() }
}

/// Returns true if an item exists in tests only: `#[test]`, `#[cfg(test)]`, or `#[cfg(all(…, test, …))]`.
pub(crate) fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let demands_test = |meta: &Meta| match meta {
            Meta::Path(path) => path.is_ident("test"),
            Meta::List(all) if all.path.is_ident("all") => all
                .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
                .is_ok_and(|parts| parts.iter().any(|part| part.path().is_ident("test"))),
            _ => false,
        };
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg") && attribute.parse_args::<Meta>().is_ok_and(|meta| demands_test(&meta))
    })
}

/// Returns the conditions of an item's `#[cfg(…)]`, as text.
fn cfgs(attributes: &[Attribute]) -> impl Iterator<Item = String> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).filter_map(|attribute| {
        match &attribute.meta {
            Meta::List(list) => Some(list.tokens.to_string()),
            _ => None,
        }
    })
}

pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
