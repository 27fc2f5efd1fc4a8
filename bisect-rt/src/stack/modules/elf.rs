//! By the list of the dynamic loader.

use std::{
    ops::ControlFlow,
    path::Path,
    sync::atomic::{
        AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use super::{Frame, MAIN, NO_MODULE, identity};
use crate::loaded;

/// In one pass over the modules, whatever the number of addresses, because a pass takes the loader's lock; in none at
/// all for a stack that is wholly in the main executable, which is not unloaded.
pub(super) fn locate(addresses: &[u64], frames: &mut [Frame]) {
    let main = MAIN_CODE.known_or_found();
    let mut missing = frames.len();
    for (frame, &address) in frames.iter_mut().zip(addresses) {
        if (main.start..main.end).contains(&address) {
            *frame = Frame { module: MAIN, offset: address.wrapping_sub(main.base) };
            missing -= 1;
        }
    }
    if missing > 0 {
        locate_in_all(addresses, frames, missing);
    }
}

fn locate_in_all(addresses: &[u64], frames: &mut [Frame], mut missing: usize) {
    loaded::for_each(|module| {
        let mut id = None;
        for (frame, &address) in frames.iter_mut().zip(addresses) {
            if frame.module == NO_MODULE && module.has_code_at(address) {
                let module_id = *id.get_or_insert_with(|| if module.is_main { MAIN } else { identity(module.path) });
                *frame = Frame { module: module_id, offset: address.wrapping_sub(module.base) };
                missing -= 1;
            }
        }
        if missing == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
}

/// Where the main executable has code, once that was asked for. What other pieces it may have, a pass finds.
static MAIN_CODE: MainCode = MainCode { base: AtomicU64::new(0), start: AtomicU64::new(0), end: AtomicU64::new(0) };

/// Written by whoever asks first, and by those who ask at the same time, who write the same.
struct MainCode {
    base: AtomicU64,
    start: AtomicU64,
    /// 0 if it is not known yet.
    end: AtomicU64,
}

#[derive(Clone, Copy)]
struct Code {
    base: u64,
    start: u64,
    end: u64,
}

impl MainCode {
    fn known_or_found(&self) -> Code {
        let end = self.end.load(Acquire);
        if end == 0 {
            self.find()
        } else {
            Code { base: self.base.load(Relaxed), start: self.start.load(Relaxed), end }
        }
    }

    #[cold]
    fn find(&self) -> Code {
        // Of an executable without code, an empty piece.
        let mut code = Code { base: 0, start: u64::MAX, end: u64::MAX };
        loaded::for_each(|module| {
            if let Some(segment) = module.segments(libc::PF_X).next() {
                code = Code { base: module.base, start: segment.start, end: segment.end };
            }
            ControlFlow::Break(())
        });
        self.base.store(code.base, Relaxed);
        self.start.store(code.start, Relaxed);
        self.end.store(code.end, Release);
        code
    }
}

pub(super) fn file_name(address: u64) -> Option<String> {
    let mut name = None;
    loaded::for_each(|module| {
        if !module.has_code_at(address) {
            return ControlFlow::Continue(());
        }
        let path = String::from_utf8_lossy(module.path).into_owned();
        name = Some(if path.is_empty() && module.is_main { main_executable() } else { path });
        ControlFlow::Break(())
    });
    name.map(|path| Path::new(&path).file_name().map_or(path.clone(), |name| name.to_string_lossy().into_owned()))
}

fn main_executable() -> String {
    std::env::current_exe().map_or_else(|_| "main".into(), |path| path.to_string_lossy().into_owned())
}
