#!/usr/bin/env node
// `npx @concilia/sandbox-bank`: one bank until Ctrl-C, with the pages of the test payer.
import { parseArgs } from 'node:util';
import { startBank, type BankOptions } from './index.js';

const help = `Starts a sandbox bank.

  npx @concilia/sandbox-bank [--port 3900] [--preset published] [--now 2030-01-02T12:00:00Z]

  --port     the port of 127.0.0.1; 3900
  --preset   contract, published or complete
  --now      the bank's time at its start
`;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      ...{ port: { type: 'string', default: '3900' }, preset: { type: 'string' } },
      ...{ now: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`no port: ${values.port}`);
  const bank = await startBank({
    port,
    ...(values.preset ? { preset: values.preset as NonNullable<BankOptions['preset']> } : {}),
    ...(values.now ? { clock: { now: values.now } } : {}),
  });
  const accounts = bank.accounts.map(
    ({ branch, number, apiKey }) => `  ${branch} / ${number}   x-service-api-key: ${apiKey}\n`,
  );
  process.stdout.write(
    `The sandbox bank listens on ${bank.url}\n\n${accounts.join('')}\n` +
      `Test payer: ${bank.url}/\nReference:  ${bank.url}/openapi.json\n\nCtrl-C stops it.\n`,
  );
  // The bank alone does not keep this process alive.
  const waiting = setInterval(() => undefined, 60_000);
  const stop = () => {
    clearInterval(waiting);
    void bank.stop();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
