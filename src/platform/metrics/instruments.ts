// What this process counts and times: one list of metrics for the process, each declared once where
// its work is done. A label has few values, which its declaration limits, and never an id: each
// value is a series of its own, in every process and in the store of every scraper.
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A gauge counts no more rows that wait: their number alone says that something is wrong. */
export const maxCounted = 10_000;

/** The values that a label may have: listed, or matching a pattern where the list is elsewhere. */
export type LabelValues = readonly string[] | RegExp;
export type LabelSets = Readonly<Record<string, LabelValues>>;

type LabelsOf<Sets extends LabelSets> = {
  readonly [Name in keyof Sets]: Sets[Name] extends readonly (infer Value)[] ? Value : string;
};

export interface Declaration<Sets extends LabelSets> {
  /** In the base unit, which ends the name; a counter's name ends in `_total`. */
  name: string;
  help: string;
  labels?: Sets;
}

export interface CounterOf<Sets extends LabelSets> {
  inc(labels: LabelsOf<Sets>, by?: number): void;
}

export interface HistogramOf<Sets extends LabelSets> {
  observe(labels: LabelsOf<Sets>, seconds: number): void;
}

export interface GaugeOf<Sets extends LabelSets> {
  set(labels: LabelsOf<Sets>, value: number): void;
  /** Forgets all values: a metric without a value is not shown. */
  clear(): void;
}

const processRegistry = new Registry();
const declared = new Map<string, LabelSets>();

/** Every metric that this process has declared, with the values that its labels may have. */
export function declaredMetrics(): ReadonlyMap<string, LabelSets> {
  return declared;
}

/** The metrics of the process, as Prometheus reads them. */
export function exposeProcess(): Promise<string> {
  return processRegistry.metrics();
}

function optionsOf<Sets extends LabelSets>(
  { name, help, labels }: Declaration<Sets>,
  registry = processRegistry,
) {
  declared.set(name, labels ?? {});
  return { name, help, labelNames: Object.keys(labels ?? {}), registers: [registry] };
}

/**
 * A counter starts at zero where all values of its labels are listed: a rate would not show the
 * first event of a series that begins with it.
 */
export function counter<const Sets extends LabelSets = Record<never, never>>(
  declaration: Declaration<Sets>,
): CounterOf<Sets> {
  const made = new Counter(optionsOf(declaration));
  for (const labels of listedLabels(declaration.labels ?? {})) made.inc(labels, 0);
  return made as CounterOf<Sets>;
}

/** Times in seconds. */
export function histogram<const Sets extends LabelSets = Record<never, never>>(
  declaration: Declaration<Sets> & { buckets: readonly number[] },
): HistogramOf<Sets> {
  const buckets = [...declaration.buckets];
  return new Histogram({ ...optionsOf(declaration), buckets }) as HistogramOf<Sets>;
}

/** A value of one application (`registry`), or of the process. */
export function gauge<const Sets extends LabelSets = Record<never, never>>(
  declaration: Declaration<Sets>,
  registry?: Registry,
): GaugeOf<Sets> {
  const made = new Gauge(optionsOf(declaration, registry));
  clear(made);
  return {
    set: (labels, value) => made.set(labels as Record<string, string>, value),
    clear: () => clear(made),
  };
}

/** Without labels, a reset would leave the value 0. */
function clear(made: Gauge): void {
  made.reset();
  made.remove({});
}

/** Every combination of the labels; none if the values of one of them are not listed. */
function listedLabels(sets: LabelSets): Record<string, string>[] {
  return Object.entries(sets).reduce<Record<string, string>[]>(
    (combinations, [name, values]) =>
      values instanceof RegExp
        ? []
        : combinations.flatMap((labels) => values.map((value) => ({ ...labels, [name]: value }))),
    [{}],
  );
}
