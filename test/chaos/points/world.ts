// A service whose crash points are found and used, with its bank, its queue and a receiver of its
// events. Its files: `reached` lists the points that were reached, `armed` those at which
// the process ends, `killed` names the one at which it has ended, and `clock` shifts its clock.
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { registerReceiver } from '../../support/payments.js';
import { Receiver } from '../../support/receiver.js';
import { TestRedis } from '../../support/redis.js';
import { until } from '../../support/until.js';
import { ChaosDeployment } from '../deployment.js';
import type { World } from './scenario.js';

export type QueueName = 'postgresql' | 'redis';
export type Side = 'before' | 'after';

const preload = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export class PointsWorld implements World {
  readonly sent: World['sent'] = [];
  received: string[] = [];
  index = 0;

  private constructor(
    readonly seed: number,
    readonly deployment: ChaosDeployment,
    readonly receiver: Receiver,
    private readonly folder: string,
    private readonly redis: TestRedis | null,
  ) {}

  /** `mutant` is a fault to put in, see mutants.mjs. */
  static async open(seed: number, queue: QueueName, mutant?: string): Promise<PointsWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'points-'));
    writeFileSync(join(folder, 'clock'), '0');
    writeFileSync(join(folder, 'reached'), '');
    const redis = queue === 'redis' ? await TestRedis.start() : null;
    const modules = ['../../support/shifted-clock.mjs', './preload.mjs'].map(preload);
    const deployment = await ChaosDeployment.open(1, {
      NODE_OPTIONS: modules.map((path) => `--import ${path}`).join(' '),
      CRASH_POINTS: folder,
      CLOCK_SHIFT_FILE: join(folder, 'clock'),
      ...(mutant ? { CRASH_MUTANT: mutant } : {}),
      ...(redis ? { REDIS_URL: redis.url } : {}),
    });
    const receiver = await Receiver.listen();
    await registerReceiver(deployment.service, receiver);
    await until('the first sync is completed', async () => {
      const { body } = await deployment.service.callService<{ statement: { complete: boolean } }>(
        'GET',
        '/v1/summary',
      );
      return body.statement.complete;
    });
    return new PointsWorld(seed, deployment, receiver, folder, redis);
  }

  /** The points that were reached since the last call. */
  takeReached(): string[] {
    const reached = readFileSync(this.path('reached'), 'utf8').split('\n').filter(Boolean);
    writeFileSync(this.path('reached'), '');
    return [...new Set(reached)];
  }

  /**
   * Ends the service at the first of the points (`before …`, `after …`) that it reaches, and starts
   * it again. Null where it reaches none of them in time.
   */
  async killAtFirst(kills: string[], timeoutMs: number): Promise<string | null> {
    const [armed, killed] = [this.path('armed'), this.path('killed')];
    rmSync(killed, { force: true });
    // At once, because the service may read it at any time.
    writeFileSync(`${armed}.new`, kills.join('\n'));
    renameSync(`${armed}.new`, armed);
    const readKilled = () => existsSync(killed) && readFileSync(killed, 'utf8');
    const isInTime = () => until('the service is killed', readKilled, timeoutMs);
    const kill = await isInTime().catch(() => (disarm(armed) ? null : isInTime()));
    if (kill !== null) await this.deployment.killAndRestartService(0);
    return kill;
  }

  shiftClock(ms: number): void {
    writeFileSync(this.path('clock'), String(ms));
  }

  async close(): Promise<void> {
    await this.deployment.close();
    await this.receiver.close();
    await this.redis?.stop();
    rmSync(this.folder, { recursive: true });
  }

  private path(name: string): string {
    return join(this.folder, name);
  }
}

/** False where the service has taken the file: it is about to end. */
function disarm(path: string): boolean {
  try {
    rmSync(path);
    return true;
  } catch {
    return false;
  }
}
