// How often the bank is called for payments that one control call makes. Closing reads are left
// out: they prove a period and are not caused by payments.
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bench } from '../harness/bench.js';
import { BenchBank, BenchService } from '../harness/deployment.js';

const payments = 10_000;
const pageLines = 1_000;
/** Beside twice the pages of new lines, one call in this time is allowed. */
const msPerCall = 500;

export const bench: Bench = {
  id: 'G11',
  title: 'Statement pages read for payments made at once, of those allowed',
  unit: 'of 2 × pages of new lines + 1 every 500 ms',
  goals: [{ of: 'concilia', atMost: 1 }],
  async open({ isShort }) {
    const count = isShort ? 2_000 : payments;
    const bank = await BenchBank.open();
    const counter = await countPages(bank.url);
    const service = await BenchService.open(bank, counter.url);
    let made = 0;
    await service.bank.generate(50);
    await service.explained((made += 50));
    return {
      contestants: {
        concilia: async () => {
          counter.pages = 0;
          const startedAt = performance.now();
          await bank.generate(count);
          await service.explained((made += count));
          const elapsedMs = performance.now() - startedAt;
          return counter.pages / ((2 * count) / pageLines + elapsedMs / msPerCall);
        },
      },
      check: () => service.check(),
      close: async () => {
        await service.close();
        await counter.close();
        await bank.close();
      },
    };
  },
};

/** A proxy that counts the statement pages that a sync reads: those of no period. */
async function countPages(bankUrl: string) {
  const counter = { pages: 0, url: '', close: async () => {} };
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', bankUrl);
    if (url.pathname.endsWith('/transactions') && !url.searchParams.has('startDate'))
      counter.pages += 1;
    const { method, headers } = incoming;
    const forwarded = send(url, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  counter.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  counter.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return counter;
}
