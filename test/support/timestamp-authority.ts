// A small timestamp authority (RFC 3161): the `openssl ts` of the machine behind HTTP.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';

const config = `
[tsa]
default_tsa = tsa1
[tsa1]
serial = serial
crypto_device = builtin
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
[req]
distinguished_name = name
[name]
[stamping]
extendedKeyUsage = critical,timeStamping
`;

export class TimestampAuthority {
  readonly folder = mkdtempSync(join(tmpdir(), 'timestamp-authority-'));
  /** Whether it answers 503. */
  isAway = false;
  /** Whether its response has no end. */
  isEndless = false;
  requests = 0;
  private server: Server | null = null;

  constructor() {
    writeFileSync(join(this.folder, 'tsa.cnf'), config);
    writeFileSync(join(this.folder, 'serial'), '01\n');
    const [of, key] = [
      ['-config', 'tsa.cnf', '-days', '9'],
      ['-newkey', 'rsa:2048', '-nodes'],
    ];
    this.openssl(
      'req',
      '-x509',
      ...key,
      '-keyout',
      'ca.key',
      '-out',
      'ca.pem',
      ...of,
      '-subj',
      '/CN=A',
    );
    this.openssl(
      'req',
      ...key,
      '-keyout',
      'tsa.key',
      '-out',
      'tsa.csr',
      '-config',
      'tsa.cnf',
      '-subj',
      '/CN=B',
    );
    const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-extfile', 'tsa.cnf'];
    const extensions = ['-extensions', 'stamping', '-days', '9', '-CAcreateserial'];
    this.openssl('x509', '-req', '-in', 'tsa.csr', ...signing, ...extensions, '-out', 'tsa.pem');
  }

  /** Returns its URL. */
  async start(): Promise<string> {
    this.server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        this.requests += 1;
        if (this.isEndless) return pipeline(endless(), response, () => undefined);
        response.statusCode = this.isAway ? 503 : 200;
        response.end(this.isAway ? '' : this.reply(Buffer.concat(parts)));
      });
    });
    await new Promise<void>((done) => this.server!.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** What the documented command prints. */
  verify(response: Uint8Array, hash: string): string {
    writeFileSync(join(this.folder, 'head.tsr'), response);
    return this.openssl('ts', '-verify', '-digest', hash, '-in', 'head.tsr', '-CAfile', 'ca.pem');
  }

  stop(): void {
    this.server?.close();
    rmSync(this.folder, { recursive: true });
  }

  private reply(query: Buffer): Buffer {
    writeFileSync(join(this.folder, 'query.tsq'), query);
    const signer = ['-signer', 'tsa.pem', '-inkey', 'tsa.key', '-config', 'tsa.cnf'];
    this.openssl('ts', '-reply', '-queryfile', 'query.tsq', ...signer, '-out', 'reply.tsr');
    return readFileSync(join(this.folder, 'reply.tsr'));
  }

  private openssl(...args: string[]): string {
    return execFileSync('openssl', args, {
      ...{ cwd: this.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
    });
  }
}

function* endless() {
  for (;;) yield Buffer.alloc(10_000);
}
