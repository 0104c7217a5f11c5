//! Networks that a test can cut: a link to a network namespace, and a relay that drops
//! messages on request. No packet leaves this machine.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A pair of virtual interfaces with one end in a network namespace of its own; gone
/// when it is dropped.
pub(crate) struct Cable {
    namespace: String,
    link: String,
    /// The address of this end.
    pub(crate) near: String,
    /// The address of the other.
    pub(crate) far: String,
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

impl Cable {
    /// None where namespaces cannot be made: without root, or in some containers.
    pub(crate) fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        // Addresses that are kept free for tests (RFC 2544).
        let address = |end: u32| format!("198.18.{}.{}", process % 256, 4 * number + end);
        let cable = Self {
            namespace: format!("mizan-{process}-{number}"),
            link: format!("mz{process}n{number}"),
            near: address(1),
            far: address(2),
        };
        match cable.lay() {
            Ok(()) => Some(cable),
            Err(reason) => {
                eprintln!("skipped: no network namespaces: {reason}");
                None
            }
        }
    }

    fn lay(&self) -> Result<(), String> {
        let Self {
            namespace,
            link,
            near,
            far,
        } = self;
        ip(&format!("netns add {namespace}"))?;
        ip(&format!(
            "link add {link} type veth peer name far netns {namespace}"
        ))?;
        ip(&format!("addr add {near}/30 dev {link}"))?;
        ip(&format!("link set {link} up"))?;
        ip(&format!("-n {namespace} addr add {far}/30 dev far"))?;
        ip(&format!("-n {namespace} link set far up"))
    }

    /// What runs a program at the far end.
    pub(crate) fn within(&self) -> Vec<String> {
        let words = ["ip", "netns", "exec", &self.namespace];
        words.map(str::to_owned).to_vec()
    }

    /// From now on nothing arrives, and neither side gets an error.
    pub(crate) fn cut(&self) {
        ip(&format!("link set {} down", self.link)).unwrap();
    }

    pub(crate) fn mend(&self) {
        ip(&format!("link set {} up", self.link)).unwrap();
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        let _ = ip(&format!("link del {}", self.link));
        let _ = ip(&format!("netns del {}", self.namespace));
    }
}

/// What a relay does with one message of the client, and the connection with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loses {
    /// The message.
    Message,
    /// The reply to it.
    Reply,
}

/// What is lost: of the so many-th `COMMIT`.
type Plan = Arc<Mutex<Option<(u32, Loses)>>>;

/// A relay to a server of PostgreSQL on its socket.
pub(crate) struct Relay {
    pub(crate) port: u16,
    plan: Plan,
}

impl Relay {
    /// To the server with this address, `postgres://postgres@%2F.../postgres`.
    pub(crate) fn to(address: &str) -> Self {
        let directory = address.split(['@', '/']).nth(3).unwrap();
        let socket = format!("{}/.s.PGSQL.5432", directory.replace("%2F", "/"));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let plan = Plan::default();
        let of_thread = Arc::clone(&plan);
        thread::spawn(move || {
            for client in listener.incoming() {
                let server = UnixStream::connect(&socket);
                if let (Ok(client), Ok(server)) = (client, server) {
                    relay(client, server, &of_thread);
                }
            }
        });
        Self { port, plan }
    }

    /// Loses something of the so many-th `COMMIT` from now on.
    pub(crate) fn lose(&self, commit: u32, loses: Loses) {
        *self.plan.lock().unwrap() = Some((commit, loses));
    }

    /// Whether it has happened.
    pub(crate) fn has_lost(&self) -> bool {
        self.plan.lock().unwrap().is_none()
    }
}

fn relay(client: TcpStream, server: UnixStream, plan: &Plan) {
    let loses_reply = Arc::new(AtomicBool::new(false));
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server);
    let (mut from_server, mut to_client) = (to_server.try_clone().unwrap(), client);
    let (plan, loses) = (Arc::clone(plan), Arc::clone(&loses_reply));
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(length @ 1..) = from_client.read(&mut bytes) {
            let told = &bytes[..length];
            match due(&plan, told) {
                Some(Loses::Message) => break,
                Some(Loses::Reply) => loses.store(true, Ordering::SeqCst),
                None => {}
            }
            if to_server.write_all(told).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(Shutdown::Both);
        let _ = from_client.shutdown(Shutdown::Both);
    });
    thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(length @ 1..) = from_server.read(&mut bytes) {
            if loses_reply.load(Ordering::SeqCst) || to_client.write_all(&bytes[..length]).is_err()
            {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
        let _ = from_server.shutdown(Shutdown::Both);
    });
}

/// What is to be lost of what a client says.
fn due(plan: &Plan, told: &[u8]) -> Option<Loses> {
    if !told.windows(7).any(|part| part == b"COMMIT\0") {
        return None;
    }
    let mut plan = plan.lock().unwrap();
    match *plan {
        Some((1, loses)) => {
            *plan = None;
            Some(loses)
        }
        Some((more, loses)) => {
            *plan = Some((more - 1, loses));
            None
        }
        None => None,
    }
}
