// The process: settings in, a service out, and an orderly end when it is asked to stop.
import { inspect } from 'node:util';
import { startConcilia, type Concilia } from './concilia.js';
import { developmentValues, loadSettings, SettingsError, type Settings } from './config.js';
import { createLog } from './platform/log.js';

const startedAt = performance.now();

function progress(message: string): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(`  ${seconds.padStart(5)} s  ${message}\n`);
}

function tell(problem: unknown): void {
  process.stderr.write(`${typeof problem === 'string' ? problem : inspect(problem)}\n`);
}

/** Addresses, keys and three commands to try; keys are shown only while they are the development ones. */
function banner({ serviceUrl, sandboxUrl }: Concilia, settings: Settings): string {
  const key = settings.keys.api === developmentValues.CONCILIA_API_KEY ? settings.keys.api : '$KEY';
  const { apiKey } = settings.bank;
  const bankKey = apiKey === developmentValues.BANK_API_KEY ? apiKey : '$BANK_KEY';
  const lines = ['', 'Concilia is running.', ''];
  if (serviceUrl) lines.push(`  service       ${serviceUrl}   API reference: ${serviceUrl}/docs`);
  if (sandboxUrl) lines.push(`  sandbox bank  ${sandboxUrl}   API reference: ${sandboxUrl}/docs`);
  if (serviceUrl && sandboxUrl)
    lines.push(
      `  keys          x-service-api-key: ${key} (service), ${bankKey} (sandbox bank)`,
      '',
      'Try it: ask for a charge, pay it at the bank, see it settled.',
      '',
      `  curl -s ${serviceUrl}/baas/v1/charges -H 'x-service-api-key: ${key}' -H 'content-type: application/json' \\`,
      `    -d '{"type":"BANKSLIP_PIX","correlationId":"order-1","yourNumber":"1","dueDate":"2030-12-31","Amount":149.9,"payer":{"name":"Maria","document":"12345678909"}}'`,
      `  curl -s -X POST ${sandboxUrl}/baas/v1/charges/order-1/pay -H 'x-service-api-key: ${bankKey}'`,
      `  curl -s ${serviceUrl}/v1/charges/order-1 -H 'x-service-api-key: ${key}'`,
      '',
      'Ctrl-C ends all of it.',
    );
  return `${lines.join('\n')}\n`;
}

/** An orderly end has this long; what is cut off then is found again at the next start. */
const endWithinMs = 25_000;

/**
 * Ends in order at the first signal, also while it is still starting: what has started by then is stopped. A
 * second signal ends at once.
 */
function endOnSignals(starting: Promise<Concilia>): void {
  let endingSince: number | null = null;
  const end = (signal: NodeJS.Signals) => {
    if (endingSince !== null) {
      // npm hands on the Ctrl-C that the terminal has sent us already: that is one signal, not two.
      if (performance.now() - endingSince > 1_000) process.exit(1);
      return;
    }
    endingSince = performance.now();
    progress(`${signal}: ending`);
    setTimeout(() => {
      tell(
        `not ended in ${endWithinMs / 1_000} s; what was under way is taken up at the next start`,
      );
      process.exit(1);
    }, endWithinMs).unref();
    starting
      .then((concilia) => concilia.stop())
      .then(
        () => {
          progress('Ended');
          process.exit(0);
        },
        (error: unknown) => {
          tell(error);
          process.exit(1);
        },
      );
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
}

try {
  const settings = loadSettings();
  const starting = startConcilia(settings, createLog('info', 'concilia'), progress);
  endOnSignals(starting);
  process.stdout.write(banner(await starting, settings));
} catch (error) {
  tell(error instanceof SettingsError ? error.message : error);
  process.exit(1);
}
