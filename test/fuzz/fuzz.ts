// Sends drawn requests to each operation of an application, and compares what it answers with the
// API reference.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Dice } from '../chaos/dice.js';
import { referenceCheck, type Application } from '../support/reference-check.js';
import { shuffledBy } from '../support/worlds.js';
import type { FuzzOperation, Operations } from './operations.js';
import { Requests, type FuzzRequest, type FuzzWorld } from './requests.js';

export interface FuzzRun extends FuzzWorld, Operations {
  application: Application;
  url: string;
  /** Texts that no error may contain: keys, and data of persons. */
  secrets: RegExp;
  /** Operations that cannot succeed here, with the reason. */
  excluded?: Record<string, string>;
}

interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** The same in each run, so that what fails is new; another seed looks further. */
export const fuzzSeed = Number(process.env.FUZZ_SEED ?? 1);
const requestsOfOperation = Number(process.env.FUZZ_REQUESTS ?? 200);
const maxFindings = 100;

export class Fuzz {
  readonly findings: string[] = [];
  /** By operation: how often it answered each status. */
  private readonly counts = new Map<string, Map<number, number>>();
  /** By operation and error: how often a request that is as the reference has it was 400. */
  private readonly refused = new Map<string, number>();
  /** How often a request was repeated because the bank was away. */
  private repeats = 0;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly dice = new Dice(fuzzSeed);
  private readonly requests: Requests;

  constructor(private readonly run: FuzzRun) {
    this.requests = new Requests(this.dice, run, run.schemas);
  }

  /**
   * Sends several requests at once. What is drawn depends on the seed and the answers, not on how
   * fast they come: each request is drawn when the same earlier answers are known.
   */
  async send(): Promise<void> {
    const { operations } = this.run;
    // What one operation makes is soon gone where others remove it.
    const concurrency = Math.min(16, Math.ceil(operations.length / 4));
    const waiting: (() => Promise<void>)[] = [];
    for (let round = 0; round < requestsOfOperation; round += 1) {
      const keys = operations.map(() => this.dice.next());
      for (const operation of shuffledBy(operations, keys)) {
        if (this.findings.length >= maxFindings) break;
        if (waiting.length === concurrency) await waiting.shift()!();
        const drawn = this.requests.draw(operation);
        const answer = this.answerInTime(drawn).catch((error: unknown) => String(error));
        waiting.push(async () => this.compare(operation, drawn, await answer));
      }
    }
    for (const compare of waiting) await compare();
    this.agent.destroy();
    for (const { name } of operations) {
      const hasSucceeded = [...(this.counts.get(name)?.keys() ?? [])].some((one) => one < 300);
      const isExcluded = name in (this.run.excluded ?? {});
      if (hasSucceeded === isExcluded)
        this.findings.push(`${name} was ${hasSucceeded ? '' : 'never '}answered 2xx`);
    }
  }

  private compare(operation: FuzzOperation, drawn: FuzzRequest, answer: Answer | string): void {
    const found = typeof answer === 'string' ? [answer] : this.findingsOf(operation, drawn, answer);
    const text = typeof answer === 'string' ? '' : answer.text.slice(0, 600);
    const { method, path, headers, body } = drawn;
    const sent = `${method} ${path} ${JSON.stringify(headers)} ${String(body ?? '').slice(0, 1_500)}`;
    for (const one of found) this.findings.push(`${operation.name}: ${one}\n  ${sent}\n  ${text}`);
  }

  private findingsOf(operation: FuzzOperation, drawn: FuzzRequest, answer: Answer): string[] {
    const { application, secrets } = this.run;
    const { name, path: template } = operation;
    const { method, path, body, isOfOther } = drawn;
    const { status, text } = answer;
    const byStatus = this.counts.get(name) ?? this.counts.set(name, new Map()).get(name)!;
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    if (status < 300 && !isOfOther) this.learn(operation, drawn, answer);
    if (status === 404 && !isOfOther) this.run.pool.forget(template, path.split('?')[0]!);
    if ([400, 422].includes(status) && drawn.isValid) {
      const error = `${name}: ${text.replace(/"traceId":"\w+",?/, '')}`;
      this.refused.set(error, (this.refused.get(error) ?? 0) + 1);
    }
    // A reader of JSON may ignore a byte order mark.
    const sent = typeof body === 'string' ? { sent: body.replace(/^\ufeff/, '') } : {};
    return [
      ...referenceCheck(application).find({ method, url: path, ...sent, ...answer }),
      ...(status >= 500 && !text.includes('"account_stopped"') ? ['failed'] : []),
      ...(status >= 400 && secrets.test(text) ? ['has a secret or data of a person'] : []),
      // An id that the service chose is of one account.
      ...(isOfOther && status < 300 && /^\/v1\/.*\{id\}/.test(template)
        ? ['showed or changed what belongs to another account']
        : []),
    ];
  }

  private learn({ name, path: template, body }: FuzzOperation, drawn: FuzzRequest, answer: Answer) {
    const path = drawn.path.split('?')[0]!;
    if (drawn.method === 'DELETE') this.run.pool.forget(template, path);
    else if (answer.headers.get('content-type')?.includes('json'))
      this.run.pool.learn(template, path, JSON.parse(answer.text));
    const operation = answer.headers.get('concilia-operation');
    if (operation && template.startsWith('/v1/'))
      this.run.pool.addPath(`${template}/{}`, `${template}/${operation}`);
    if (body && drawn.isValid) this.requests.accept(name, JSON.parse(String(drawn.body)));
  }

  /** Waits for the bank as a client does: on a busy machine it may be away for a few seconds. */
  private async answerInTime(drawn: FuzzRequest): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.answer(drawn);
      const waitSeconds = Number(answer.headers.get('retry-after') ?? 1);
      const isBankAway = [502, 504].includes(answer.status) && waitSeconds <= 20;
      if (!isBankAway || attempt === 4) return answer;
      this.repeats += 1;
      await sleep(waitSeconds * 1_000);
    }
  }

  private answer({ method, path, headers, body }: FuzzRequest) {
    return new Promise<Answer>((resolve, reject) => {
      // Node.js would send the body of a GET without its length.
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
      const options = { method, headers: { ...headers, ...length }, agent: this.agent };
      const outgoing = request(this.run.url + path, { ...options, timeout: 60_000 });
      outgoing.on('error', reject);
      outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in a minute')));
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode ?? 0,
            headers: new Headers(incoming.headers as Record<string, string>),
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      outgoing.end(body);
    });
  }

  /** The counts by status of each operation. With FUZZ_REFUSALS also what is refused as invalid. */
  get table(): string {
    const rows = [...this.counts].map(([name, counts]) => {
      const sorted = [...counts].sort(([one], [other]) => one - other);
      return `${name.padEnd(30)}${sorted.map(([status, count]) => ` ${status}×${count}`).join('')}`;
    });
    const refused = [...this.refused].sort().map(([error, count]) => `${count}× ${error}`);
    return [
      `FUZZ_SEED=${fuzzSeed} FUZZ_REQUESTS=${requestsOfOperation} repeats=${this.repeats}`,
      ...rows,
      ...(process.env.FUZZ_REFUSALS ? refused : []),
    ].join('\n');
  }
}
