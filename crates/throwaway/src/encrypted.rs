//! A server that can be spoken to in private. There is no TLS on a Unix socket, so this one
//! listens on the loopback interface.

use super::programs::command;
use super::server::{Cluster, Durability, Server, USER, new_folder, run};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

/// A server whose certificate is for the name `localhost`.
#[derive(Debug)]
pub struct Encrypted {
    server: Server,
    port: u16,
    authority: PathBuf,
}

impl Encrypted {
    pub fn start() -> Self {
        let folder = new_folder(&std::env::temp_dir());
        let cluster = Cluster::create(folder.path(), Durability::None);
        let authority = certify(folder.path());
        let port = listen(&cluster, folder.path());
        Self { server: Server::of(cluster.with_port(port), folder), port, authority }
    }

    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The URL of a database, by one of the names of this machine.
    pub fn url(&self, host: &str, database: &str) -> String {
        format!("postgres://{USER}@{host}:{}/{database}", self.port)
    }

    /// The certificate that vouches for the server's.
    pub fn authority(&self) -> &Path {
        &self.authority
    }
}

/// Somebody else may take a free port before the server does: then another is tried.
fn listen(cluster: &Cluster, folder: &Path) -> u16 {
    let folder = folder.display();
    for _ in 0..10 {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("some port is free");
        let port = free.local_addr().expect("it is bound").port();
        drop(free);
        let options = format!(
            "-c listen_addresses=127.0.0.1 -p {port} -c ssl=on \
             -c ssl_cert_file={folder}/server.crt -c ssl_key_file={folder}/server.key"
        );
        let output = cluster.start_command(&options).output().expect("pg_ctl can be started");
        if output.status.success() {
            return port;
        }
    }
    panic!("the server could not be started: see {folder}/log");
}

/// An authority, and a certificate that it signed.
fn certify(folder: &Path) -> PathBuf {
    let new = |name: &str, subject: &str| {
        let mut openssl = command("openssl");
        openssl.current_dir(folder).args(["req", "-newkey", "ec", "-nodes", "-subj", subject]);
        openssl.args(["-pkeyopt", "ec_paramgen_curve:prime256v1"]);
        openssl.args(["-keyout", &format!("{name}.key"), "-addext"]);
        openssl
    };
    let authority = ["basicConstraints=critical,CA:TRUE", "-x509", "-days", "2"];
    run(new("authority", "/CN=throwaway").args(authority).args(["-out", "authority.crt"]));
    let server = ["subjectAltName=DNS:localhost", "-x509", "-days", "2", "-out", "server.crt"];
    let signed = ["-CA", "authority.crt", "-CAkey", "authority.key"];
    let no_authority = ["-addext", "basicConstraints=critical,CA:FALSE"];
    run(new("server", "/CN=localhost").args(server).args(signed).args(no_authority));
    folder.join("authority.crt")
}
