// Redis as the queue needs it. The queue in PostgreSQL is examined with the database.
import { Redis } from 'ioredis';
import { failed, passed, warned, type SetUpFinding } from './finding.js';

const timeoutMs = 5_000;
/** BullMQ's recommendation. */
const minVersion = [6, 2] as const;

export async function examineQueue({
  redisUrl,
}: {
  redisUrl: string | null;
}): Promise<SetUpFinding[]> {
  if (!redisUrl) return [passed('queue', 'It is in PostgreSQL.')];
  const redis = new Redis(redisUrl, {
    ...{ lazyConnect: true, connectTimeout: timeoutMs, commandTimeout: timeoutMs },
    ...{ maxRetriesPerRequest: 0, retryStrategy: () => null },
  });
  let lastError: Error | null = null;
  redis.on('error', (error: Error) => (lastError = error));
  try {
    await redis.connect();
    return describe(await redis.info());
  } catch (error) {
    const { message } = lastError ?? (error as Error);
    const advice = 'Correct REDIS_URL (host, port, password), or start Redis.';
    return [failed('queue', `Redis cannot be used: ${message}.`, advice)];
  } finally {
    redis.disconnect();
  }
}

function describe(text: string): SetUpFinding[] {
  const read = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(text)?.[1]?.trim() ?? '';
  const [version, policy] = [read('redis_version'), read('maxmemory_policy')];
  const findings = [passed('queue', `Redis ${version} answers.`)];
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1]))
    findings.push(
      warned('queue', `Redis ${version} is old.`, `Use ${minVersion.join('.')} or newer.`),
    );
  if (policy !== 'noeviction')
    findings.push(
      failed(
        'queue',
        `Redis may evict jobs: maxmemory-policy is ${policy || 'unknown'}.`,
        'Set maxmemory-policy noeviction in redis.conf.',
      ),
    );
  return findings;
}
