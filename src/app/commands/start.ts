// Reads the settings, starts the roles of this process, stops them on a signal.
import type { Command } from 'commander';
import { developmentValues, loadSettings, type Settings } from '../../platform/settings/config.js';
import { isProduction, readEnvironment } from '../../platform/settings/environment.js';
import { build } from '../../platform/build.js';
import { exitWith } from '../exit.js';
import { printAsLog, printError, printLine } from '../output.js';
import { openDatabases, type OpenDatabases } from '../open-databases.js';
import { createLog, type Log } from '../../platform/log.js';
import type { RunningConcilia } from '../start.js';
import { withExample } from './definition.js';

const startedAt = performance.now();
const runs = 'Concilia is running';

function progress(message: string): void {
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  printLine(`  ${seconds.padStart(5)} s  ${message}`, message);
}

/** Addresses, keys and three commands to try. Only development keys are shown. */
function banner(
  { serviceUrl, sandboxUrl, firstLink }: RunningConcilia,
  settings: Settings,
): string {
  const key = settings.keys.api === developmentValues.CONCILIA_API_KEY ? settings.keys.api : '$KEY';
  const { apiKey } = settings.bank;
  const bankKey = apiKey === developmentValues.BANK_API_KEY ? apiKey : '$BANK_KEY';
  const lines = ['', `${runs}.`, ''];
  if (serviceUrl) lines.push(`  service       ${serviceUrl}   API reference: ${serviceUrl}/docs`);
  if (sandboxUrl) lines.push(`  sandbox bank  ${sandboxUrl}   API reference: ${sandboxUrl}/docs`);
  if (sandboxUrl && !serviceUrl) lines.push(`  key           x-service-api-key: ${bankKey}`);
  if (serviceUrl && sandboxUrl)
    lines.push(
      `  keys          x-service-api-key: ${key} (service), ${bankKey} (sandbox bank)`,
      '',
      'Try it: create a charge, pay it at the sandbox bank, read its settlement.',
      '',
      `  curl -s ${serviceUrl}/baas/v1/charges -H 'x-service-api-key: ${key}' -H 'content-type: application/json' \\`,
      `    -d '{"type":"BANKSLIP_PIX","correlationId":"order-1","yourNumber":"1","dueDate":"2030-12-31","Amount":149.9,"payer":{"name":"Maria","document":"12345678909"}}'`,
      `  curl -s -X POST ${sandboxUrl}/baas/v1/charges/order-1/pay -H 'x-service-api-key: ${bankKey}'`,
      `  curl -s ${serviceUrl}/v1/charges/order-1 -H 'x-service-api-key: ${key}'`,
      '',
      'Ctrl-C stops everything.',
    );
  if (firstLink)
    lines.push('', 'The first person of the console, once, within 15 minutes:', `  ${firstLink}`);
  if (serviceUrl && settings.roles.includes('api'))
    lines.push('', `Console: ${serviceUrl}/console`);
  return lines.join('\n');
}

/** Work that is cut off after this time, and the delay, is recovered at the next start. */
const stopTimeoutMs = 25_000;

/**
 * The first signal stops everything in order, also while the process is still starting. A second
 * signal ends the process at once. Only SIGTERM has the delay: nobody waits for it at a terminal.
 */
function stopOnSignals(starting: Promise<RunningConcilia>, { shutdownDelayMs }: Settings): void {
  let stoppingSince: number | null = null;
  const stop = (signal: NodeJS.Signals) => {
    if (stoppingSince !== null) {
      // npm forwards the Ctrl-C that the terminal has already sent to us: one signal, not two.
      if (performance.now() - stoppingSince > 1_000) process.exit(1);
      return;
    }
    stoppingSince = performance.now();
    progress(`Stopping (${signal})`);
    const delayMs = signal === 'SIGTERM' ? shutdownDelayMs : 0;
    setTimeout(() => {
      const seconds = (delayMs + stopTimeoutMs) / 1_000;
      printError(`Not stopped within ${seconds} s; unfinished work continues at the next start.`);
      process.exit(1);
    }, delayMs + stopTimeoutMs).unref();
    starting
      .then((concilia) => concilia.stop(delayMs))
      .then(
        () => {
          progress('Stopped');
          process.exit(0);
        },
        (error: unknown) => {
          printError(error);
          process.exit(1);
        },
      );
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

/**
 * PostgreSQL starts while the modules of the service are loaded. They are loaded once it is
 * launched, because loading lets this process do nothing else.
 */
async function start(settings: Settings, log: Log): Promise<RunningConcilia> {
  let databases!: Promise<OpenDatabases>;
  await new Promise<void>((resolve) => {
    databases = openDatabases(settings, progress, resolve);
    // A failure is reported by whoever awaits the databases, once the modules are there.
    databases.then(
      () => resolve(),
      () => resolve(),
    );
  });
  const { startConcilia } = await import('../start.js');
  return startConcilia(settings, databases, log, progress);
}

async function openDemo(concilia: RunningConcilia): Promise<void> {
  progress('Opening the demonstration: a month of a shop');
  progress(`The demonstration is open: ${await concilia.openDemo()}`);
}

/** Resolves when the process is ready. It runs until a signal stops it. */
export async function runProcess(readSettings: () => Settings, isDemo = false): Promise<void> {
  const isJson = isProduction();
  if (isJson) printAsLog(createLog('info', 'concilia'));
  try {
    const settings = readSettings();
    const log = createLog(settings.log.level, 'concilia');
    if (isJson) printAsLog(log);
    const starting = start(settings, log);
    stopOnSignals(starting, settings);
    const concilia = await starting;
    if (isDemo) await openDemo(concilia);
    const { serviceUrl, sandboxUrl } = concilia;
    if (isJson) log.info({ ...build, ...{ serviceUrl, sandboxUrl, roles: settings.roles } }, runs);
    else printLine(banner(concilia, settings));
  } catch (error) {
    exitWith(error);
  }
}

export function startCommand(command: Command): void {
  withExample(command, 'start --demo')
    .option('--demo', 'open the demonstration: a month of a shop')
    .action(({ demo }: { demo?: true }) =>
      runProcess(() => loadSettings(readEnvironment()), demo === true),
    );
}
