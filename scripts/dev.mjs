// `npm run dev`: compiles src into .dev, runs the service from there with readable logs, and
// restarts it after each change that compiles. It watches src only: after a change under prisma,
// run it again.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { endWith, prepare, projectFolder } from './prepare.mjs';
import { printReadable } from './readable-logs.mjs';

// A folder of its own: `npm start` and `npm test` rebuild dist while this program runs. It stands
// beside src, because the service finds prisma relative to its own files.
const outputFolder = join(projectFolder, '.dev');

let service = null;
let isStopping = false;
let isRestarting = false;
let isRestartDue = false;

function say(message) {
  process.stdout.write(`• ${message}\n`);
}

/**
 * Starts the service, or stops the running one first. Changes during a restart cause one more
 * restart.
 */
async function restart() {
  isRestartDue = true;
  if (isRestarting) return;
  isRestarting = true;
  while (isRestartDue && !isStopping) {
    isRestartDue = false;
    if (service) {
      say('Restarting the service …');
      await stopService('SIGTERM');
    }
    if (!isStopping) startService();
  }
  isRestarting = false;
}

function startService() {
  const child = spawn(process.execPath, ['--enable-source-maps', join(outputFolder, 'main.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  service = child;
  printReadable(child.stdout, process.stdout);
  child.once('close', (code, signal) => {
    service = null;
    if (!isStopping && !isRestarting)
      say(`The service ended (${signal ?? `exit code ${code}`}). Waiting for a change in src …`);
  });
}

/** Resolves when the service has ended and everything that it printed has been shown. */
async function stopService(signal) {
  if (!service) return;
  const ended = new Promise((resolve) => service.once('close', resolve));
  service.kill(signal);
  await ended;
}

/**
 * Compiles once, and again after each change; calls `onBuilt` after each compilation without
 * errors.
 */
async function watch(onBuilt) {
  const { default: ts } = await import('typescript');
  const format = {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => projectFolder,
    getNewLine: () => '\n',
  };
  const formatDiagnostics = process.stdout.hasColors?.()
    ? ts.formatDiagnosticsWithColorAndContext
    : ts.formatDiagnostics;
  const host = ts.createWatchCompilerHost(
    join(projectFolder, 'tsconfig.build.json'),
    {
      outDir: outputFolder,
      noEmitOnError: true,
      incremental: true,
      tsBuildInfoFile: join(outputFolder, '.tsbuildinfo'),
    },
    ts.sys,
    ts.createEmitAndSemanticDiagnosticsBuilderProgram,
    (diagnostic) => process.stdout.write(formatDiagnostics([diagnostic], format)),
    (_status, _newLine, _options, errorCount) => {
      if (errorCount === undefined) say('Compiling src …');
      else if (errorCount === 0) onBuilt();
      else say(`Errors: ${errorCount}. Waiting for a change in src …`);
    },
  );
  return ts.createWatchProgram(host);
}

/**
 * The first signal stops the compiler and the service; the service ends at once at a second
 * one.
 */
function stopOnSignals(watcher) {
  const stop = (signal) => {
    if (isStopping) return service?.kill(signal);
    isStopping = true;
    watcher.close();
    stopService(signal).then(() => process.exit(0), endWith);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
}

async function main() {
  await prepare({ build: false });
  stopOnSignals(await watch(() => restart().catch(endWith)));
}

await main().catch(endWith);
