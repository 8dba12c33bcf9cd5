//! The executors of this program, whichever command starts an engine.

use mainspring_core::work::ExecutorKind;
use mainspring_engine::{Executors, ExecutorsError};
use mainspring_exec::{Executor, ProcessConfig, ProcessExecutor, Reports};
use std::sync::Arc;

/// All of them, and the one for processes by itself. Inside a runtime.
pub fn executors(
    processes: ProcessConfig,
    reports: Arc<dyn Reports>,
) -> Result<(Executors, Arc<ProcessExecutor>), ExecutorsError> {
    let runtime = tokio::runtime::Handle::current();
    #[cfg(feature = "bench")]
    let echo = mainspring_exec::EchoExecutor::new(Arc::clone(&reports))?;
    let process = Arc::new(ProcessExecutor::new(processes, runtime, reports)?);
    let all = [
        (ExecutorKind::Process, Arc::clone(&process) as Arc<dyn Executor>),
        #[cfg(feature = "bench")]
        (ExecutorKind::Echo, Arc::new(echo)),
    ];
    Ok((Executors::from(all), process))
}
