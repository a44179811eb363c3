// A mail server on loopback for one test, which receives e-mails over SMTP.
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface ReceivedMail {
  from: string;
  /** Of the envelope: who gets it, whatever its headers say. */
  recipients: string[];
  /** By their name in lower case, decoded. */
  headers: Map<string, string>;
  text: string;
}

export const mailUser = { user: 'concilia', password: 'canary-smtp-password' };

export class MailReceiver {
  readonly mails: ReceivedMail[] = [];
  /** The next so many e-mails are refused with this code. */
  refusals: number[] = [];
  /** Recipients that are refused, while others are accepted. */
  refusedRecipients: string[] = [];

  private constructor(private readonly server: SMTPServer) {}

  static async listen(): Promise<MailReceiver> {
    const server = new SMTPServer({
      // Without a certificate there is nothing to encrypt with.
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) => {
        const isKnown = username === mailUser.user && password === mailUser.password;
        done(isKnown ? null : new Error('unknown user'), { user: username });
      },
      onRcptTo: ({ address }, _session, done) =>
        done(receiver.refusedRecipients.includes(address) ? refusal(550, address) : null),
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const code = receiver.refusals.shift();
          if (code !== undefined) return done(refusal(code, 'canary-in-response'));
          const { mailFrom, rcptTo } = session.envelope;
          const from = mailFrom === false ? '' : mailFrom.address;
          const recipients = rcptTo.map(({ address }) => address);
          receiver.mails.push({ from, recipients, ...parse(Buffer.concat(chunks).toString()) });
          done();
        });
      },
    });
    const receiver = new MailReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    const { port } = this.server.server.address() as AddressInfo;
    return `smtp://${mailUser.user}:${mailUser.password}@127.0.0.1:${port}`;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(resolve));
  }
}

function refusal(responseCode: number, about: string): Error {
  return Object.assign(new Error(`refused: ${about}`), { responseCode });
}

function parse(raw: string): Pick<ReceivedMail, 'headers' | 'text'> {
  const end = raw.indexOf('\r\n\r\n');
  const lines = raw
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim())];
    }),
  );
  const body = raw.slice(end + 4);
  const encoding = headers.get('content-transfer-encoding');
  const bytes =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : encoding === 'quoted-printable'
        ? quotedPrintable(body.replace(/=\r\n/g, ''))
        : Buffer.from(body);
  return { headers, text: bytes.toString('utf8').replaceAll('\r\n', '\n') };
}

function quotedPrintable(text: string): Buffer {
  const latin = text.replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(latin, 'latin1');
}

/** Encoded words of RFC 2047. White space between two of them is not part of the text. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind: string, word: string) =>
      kind.toLowerCase() === 'b'
        ? Buffer.from(word, 'base64').toString('utf8')
        : quotedPrintable(word.replaceAll('_', ' ')).toString('utf8'),
    );
}
