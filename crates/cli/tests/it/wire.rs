//! A wire between a command and a server, that can be cut.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub struct Wire {
    pub url: String,
    ends: Arc<Mutex<Vec<TcpStream>>>,
}

impl Wire {
    /// To the server at this URL.
    pub fn to(url: &str) -> Self {
        let server = url.strip_prefix("http://").expect("an address").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let ends: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let kept = Arc::clone(&ends);
        std::thread::spawn(move || {
            for here in listener.incoming().map_while(Result::ok) {
                let Ok(there) = TcpStream::connect(&server) else { continue };
                let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor");
                let all = [copy(&here), copy(&there)];
                kept.lock().expect("whole").extend(all);
                carry(copy(&here), copy(&there));
                carry(there, here);
            }
        });
        Self { url, ends }
    }

    /// Ends every connection; new ones are carried as before.
    pub fn cut(&self) {
        for end in self.ends.lock().expect("whole").drain(..) {
            // It may have ended by itself.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

fn carry(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        // However it ends, nothing more is carried.
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Both);
    });
}
