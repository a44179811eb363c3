// The service on a bank of its own, for the tests of this project: nothing else has to run.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Concilia } from '@concilia/client';
import { startBank } from '@concilia/sandbox-bank';

const keys = { apiKey: 'the-key-of-the-shop', adminKey: 'the-key-of-its-operator' };

export async function startConcilia() {
  const bank = await startBank({
    accounts: [{ name: 'The shop', balance: '1000.00' }, { name: 'The supplier' }],
    preset: 'complete',
  });
  const dataDir = await mkdtemp(join(tmpdir(), 'shop-'));
  const service = spawn(join('node_modules', '.bin', 'concilia'), ['start'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      ...{ PORT: '0', DATA_DIR: dataDir, CREDENTIALS_KEY: 'at-least-32-characters-of-a-secret' },
      ...{ BANK_BASE_URL: bank.url, BANK_PROFILE: 'sandbox', BANK_API_KEY: bank.apiKey },
      ...{ CONCILIA_API_KEY: keys.apiKey, CONCILIA_ADMIN_KEY: keys.adminKey },
    },
  });
  let baseUrl = '';
  for await (const line of createInterface({ input: service.stdout })) {
    baseUrl = /^ *service +(http\S+)/.exec(line)?.[1] ?? '';
    if (baseUrl) break;
  }
  service.stdout.resume();
  const stop = async () => {
    service.kill();
    await once(service, 'exit');
    await bank.stop();
    await rm(dataDir, { recursive: true });
  };
  const clientOf = (apiKey: string) => new Concilia({ baseUrl, apiKey });
  const operator = new Concilia({ baseUrl, adminKey: keys.adminKey });
  return { bank, operator, shop: clientOf(keys.apiKey), clientOf, stop };
}
