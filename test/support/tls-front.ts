/** TLS before a server, and pages of another origin, with a certificate that openssl makes. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer, type Server } from 'node:tls';
import { ProxySockets } from '../../bench/processes/proxy-sockets.js';

export interface Certificate {
  key: Buffer;
  cert: Buffer;
}

export function selfSigned(): Certificate {
  const directory = mkdtempSync(join(tmpdir(), 'verbatim-certificate-'));
  const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
  try {
    const about = ['-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...about, '-keyout', key, '-out', cert];
    execFileSync('openssl', words, { stdio: 'pipe' });
    return { key: readFileSync(key), cert: readFileSync(cert) };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

export class TlsFront {
  private constructor(
    private readonly sockets: ProxySockets,
    /** https. */
    readonly url: string,
  ) {}

  /** Whatever comes goes to this port, as plain text. */
  static to(port: number, certificate: Certificate): Promise<TlsFront> {
    const server = createTlsServer(certificate, (client) => {
      const behind = connect(port, '127.0.0.1');
      for (const [one, other] of [
        [client, behind],
        [behind, client],
      ] as const) {
        one.on('error', () => other.destroy());
        one.on('close', () => other.destroy());
        one.pipe(other);
      }
    });
    return TlsFront.#listening(server);
  }

  /** Answers by itself. */
  static answering(answer: RequestListener, certificate: Certificate): Promise<TlsFront> {
    return TlsFront.#listening(createHttpsServer(certificate, answer));
  }

  static async #listening(server: Server): Promise<TlsFront> {
    const sockets = new ProxySockets(server);
    server.on('connection', (socket: Socket) => sockets.add(socket));
    return new TlsFront(sockets, `https://127.0.0.1:${await sockets.listen()}`);
  }

  close(): Promise<void> {
    return this.sockets.close();
  }
}
