//! By the list of the dynamic loader.

use std::{ops::ControlFlow, path::Path};

use super::{Frame, MAIN, NO_MODULE, identity};
use crate::loaded;

/// In one pass over the modules, whatever the number of addresses: a pass takes the loader's lock.
pub(super) fn locate(addresses: &[u64], frames: &mut [Frame]) {
    let mut missing = frames.len();
    loaded::for_each(|module| {
        let mut id = None;
        for (frame, &address) in frames.iter_mut().zip(addresses) {
            if frame.module == NO_MODULE && module.has_code_at(address) {
                let module_id = *id.get_or_insert_with(|| if module.is_main { MAIN } else { identity(module.path) });
                *frame = Frame { address, module: module_id, offset: address.wrapping_sub(module.base) };
                missing -= 1;
            }
        }
        if missing == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
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
