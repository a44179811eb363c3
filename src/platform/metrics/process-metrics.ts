// The process itself, under the names that Prometheus clients use. The lag of the event loop is
// sampled by a slow timer: Node's own monitor runs a hundred times per second, which would be most
// of what a service at rest does.
import { readdirSync } from 'node:fs';
import {
  constants,
  PerformanceObserver,
  performance,
  type PerformanceEntry,
} from 'node:perf_hooks';
import { build } from '../build.js';
import { counter, gauge, histogram } from './instruments.js';
import type { Metrics } from './metrics.js';

const lagSampleMs = 500;

const eventLoopLag = histogram({
  name: 'concilia_event_loop_lag_seconds',
  help: 'How late the event loop served a timer, sampled twice per second.',
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
});
const collectorKinds = ['minor', 'major', 'incremental', 'weakcb', 'other'] as const;
const collections = histogram({
  name: 'nodejs_gc_duration_seconds',
  help: 'Garbage collections by kind.',
  labels: { kind: collectorKinds },
  buckets: [0.001, 0.01, 0.1, 1],
});
const cpu = counter({
  name: 'process_cpu_seconds_total',
  help: 'CPU time of the process, of user and system.',
});
const active = counter({
  name: 'concilia_event_loop_active_seconds_total',
  help: 'Time in which the event loop worked and did not wait.',
});

const buildInfo = gauge({
  name: 'concilia_build_info',
  help: 'Always 1; the labels say which build the process is.',
  labels: { version: /^[\w.+-]+$/, commit: /^[0-9a-f]*$/, schema: /^\w*$/ },
});
const startTime = gauge({
  name: 'process_start_time_seconds',
  help: 'When the process started, in seconds since 1970.',
});
const openFiles = gauge({
  name: 'process_open_fds',
  help: 'Open files and sockets; absent where the system does not list them.',
});
const memory = {
  resident: gauge({
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process that is not swapped out.',
  }),
  heapUsed: gauge({ name: 'nodejs_heap_size_used_bytes', help: 'Used heap.' }),
  heapTotal: gauge({ name: 'nodejs_heap_size_total_bytes', help: 'Allocated heap.' }),
  external: gauge({
    name: 'nodejs_external_memory_bytes',
    help: 'Memory of buffers and other objects outside the heap.',
  }),
};

const kindNames: ReadonlyMap<number, (typeof collectorKinds)[number]> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

/** What Node.js reports of a collection. */
type CollectionEntry = PerformanceEntry & { detail: { kind: number } };

let isObserved = false;
let counted = { cpuSeconds: 0, activeSeconds: 0 };

/** Begins to observe the process, for this application and any other in it. */
export function observeProcess(metrics: Metrics): void {
  metrics.observe(readUsage);
  if (isObserved) return;
  isObserved = true;
  observeCollections();
  sampleLag();
}

function observeCollections(): void {
  const observer = new PerformanceObserver((list) => {
    for (const { detail, duration } of list.getEntries() as CollectionEntry[])
      collections.observe({ kind: kindNames.get(detail.kind) ?? 'other' }, duration / 1_000);
  });
  observer.observe({ entryTypes: ['gc'] });
}

function sampleLag(): void {
  const dueAtMs = performance.now() + lagSampleMs;
  setTimeout(() => {
    eventLoopLag.observe({}, Math.max(0, performance.now() - dueAtMs) / 1_000);
    sampleLag();
  }, lagSampleMs).unref();
}

function readUsage(): void {
  const { user, system } = process.cpuUsage();
  const cpuSeconds = (user + system) / 1e6;
  const activeSeconds = performance.eventLoopUtilization().active / 1_000;
  cpu.inc({}, cpuSeconds - counted.cpuSeconds);
  active.inc({}, activeSeconds - counted.activeSeconds);
  counted = { cpuSeconds, activeSeconds };
  const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
  memory.resident.set({}, rss);
  memory.heapUsed.set({}, heapUsed);
  memory.heapTotal.set({}, heapTotal);
  memory.external.set({}, external);
  const { version, commit, schema } = build;
  buildInfo.set({ version, commit: commit ?? '', schema: schema ?? '' }, 1);
  startTime.set({}, performance.timeOrigin / 1_000);
  const files = countOpenFiles();
  if (files !== null) openFiles.set({}, files);
}

/** Null where the system does not list them. */
function countOpenFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return null;
  }
}
