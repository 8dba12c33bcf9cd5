//! The server: reachable, ready, and willing.

use super::Finding;
use crate::args::PlaceArgs;
use crate::client::wire::Session;
use crate::client::{Ask, Client, ClientError, Place, reading};
use anyhow::Result;

pub async fn server(args: &PlaceArgs) -> Result<Vec<Finding>> {
    const CHECK: &str = "server";
    Ok(match reading(args).await {
        Ok(Place::Folder) => {
            vec![Finding::ok(CHECK, "none is named, and none is at work in the data folder")]
        }
        Ok(Place::Server(client)) => {
            let first = ready(&client).await;
            let is_there = first.state != super::State::Problem;
            let mut findings = vec![first];
            if is_there {
                findings.push(token(&client).await);
            }
            findings
        }
        Err(error) => vec![failed(CHECK, &error)],
    })
}

async fn ready(client: &Client) -> Finding {
    const CHECK: &str = "server";
    let at = client.target();
    match client.bytes(&Ask::get(&["readyz"]).text()).await {
        Ok(_) => Finding::ok(CHECK, format!("{at} is ready")),
        Err(error) => failed(CHECK, &error),
    }
}

async fn token(client: &Client) -> Finding {
    const CHECK: &str = "token";
    match client.answer::<Session>(&Ask::get(&["session"])).await {
        Ok(session) => Finding::ok(CHECK, format!("{}, {}", session.name, session.role)),
        Err(error) => failed(CHECK, &error),
    }
}

fn failed(check: &'static str, error: &ClientError) -> Finding {
    let to_do = match error {
        ClientError::Refused(problem) if problem.status == 401 => {
            "make a token where the server runs: mainspring tokens create NAME --role operator"
        }
        ClientError::Refused(problem) if problem.status == 503 => {
            "wait a moment; if it stays so, look at the server's log"
        }
        ClientError::Refused(_) => "look at the server's log",
        ClientError::Usage(_) => "correct the command line or the environment",
        ClientError::Untrusted { .. } => {
            "name the server as its certificate does, and its issuer's file in SSL_CERT_FILE"
        }
        _ => "start it with `mainspring server`, and check the address and the firewall",
    };
    let mut found = error.to_string().lines().next().unwrap_or_default().to_owned();
    if let Some(cause) = std::error::Error::source(error) {
        found.push_str(&format!(" ({cause})"));
    }
    Finding::problem(check, found, to_do)
}
