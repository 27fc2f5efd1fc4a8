//! By the list of the dynamic loader.

use std::{ops::ControlFlow, path::Path};

use super::{Frame, MAIN, identity};
use crate::loaded;

pub(super) fn locate(addresses: &[u64], frames: &mut Vec<Frame>) {
    let start = frames.len();
    // One pass over the modules, whatever the number of addresses: a pass takes the loader's lock.
    frames.extend(addresses.iter().map(|&address| Frame { address, module: NOWHERE, offset: 0 }));
    let frames_of_call = &mut frames[start..];
    let mut missing = frames_of_call.len();
    loaded::for_each(|module| {
        let mut id = None;
        for frame in frames_of_call.iter_mut().filter(|frame| frame.module == NOWHERE) {
            if module.has_code_at(frame.address) {
                frame.module = *id.get_or_insert_with(|| if module.is_main { MAIN } else { identity(module.path) });
                frame.offset = frame.address.wrapping_sub(module.base);
                missing -= 1;
            }
        }
        if missing == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let located = frames_of_call.iter().take_while(|frame| frame.module != NOWHERE).count();
    frames.truncate(start + located);
}

/// The identity of no module: that of a library is a hash, and never this in practice.
const NOWHERE: u64 = u64::MAX;

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
