// A DNS server on loopback for one test. It answers as the test sets, or not at all.
import { createSocket, type RemoteInfo } from 'node:dgram';

type RecordType = 'A' | 'AAAA';

export interface DnsQuery {
  name: string;
  type: RecordType;
}

/** Addresses of the queried type, or an error code of DNS; null: no response. */
export type DnsAnswer = { addresses: string[]; ttl?: number } | { errorCode: number } | null;

const recordTypes: Record<number, RecordType> = { 1: 'A', 28: 'AAAA' };
export const nameError = { errorCode: 3 };

export class DnsServer {
  readonly queries: DnsQuery[] = [];
  /** Called for each query, the repeats of a query included. */
  answer: (query: DnsQuery) => DnsAnswer | Promise<DnsAnswer> = () => nameError;
  private readonly socket = createSocket('udp4');

  static async listen(): Promise<DnsServer> {
    const server = new DnsServer();
    server.socket.on('message', (message, sender) => void server.respond(message, sender));
    await new Promise<void>((resolve) => server.socket.bind(0, '127.0.0.1', resolve));
    return server;
  }

  /** As `Resolver.setServers` takes it. */
  get address(): string {
    return `127.0.0.1:${this.socket.address().port}`;
  }

  /** How often the addresses of a name were queried for. */
  count(name: string, type: RecordType = 'A'): number {
    return this.queries.filter((query) => query.name === name && query.type === type).length;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.socket.close(() => resolve()));
  }

  private async respond(message: Buffer, sender: RemoteInfo): Promise<void> {
    const { name, end } = readName(message);
    const type = recordTypes[message.readUInt16BE(end)];
    if (type === undefined) throw new Error('the test server answers for A and AAAA only');
    const query = { name, type };
    this.queries.push(query);
    const answer = await this.answer(query);
    if (answer === null) return;
    const records = 'addresses' in answer ? answer.addresses : [];
    const header = Buffer.from(message.subarray(0, 12));
    header.writeUInt16BE(0x8180 + ('errorCode' in answer ? answer.errorCode : 0), 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    const ttl = 'addresses' in answer ? (answer.ttl ?? 60) : 0;
    const body = records.map((address) => recordOf(query, address, ttl));
    const response = Buffer.concat([header, message.subarray(12, end + 4), ...body]);
    this.socket.send(response, sender.port, sender.address, () => undefined);
  }
}

/** The name of the question, and where it ends. */
function readName(message: Buffer): { name: string; end: number } {
  const parts: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    parts.push(message.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: parts.join('.').toLowerCase(), end: at + 1 };
}

function recordOf({ type }: DnsQuery, address: string, ttl: number): Buffer {
  const data = type === 'A' ? Buffer.from(address.split('.').map(Number)) : bytesOfIPv6(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0); // the name of the question
  head.writeUInt16BE(type === 'A' ? 1 : 28, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttl, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function bytesOfIPv6(address: string): Buffer {
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const missing = 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(missing).fill('0'), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
