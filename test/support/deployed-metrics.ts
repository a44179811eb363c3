// The PromQL of deploy/: the expressions of rules and dashboards, and what they select.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..');
export const deployFolder = join(root, 'deploy');
export const readDeployed = (...path: string[]): string =>
  readFileSync(join(deployFolder, ...path), 'utf8');

export interface Expression {
  /** The alert, or the dashboard and its panel. */
  where: string;
  expr: string;
  /** The labels that its legend shows. */
  shown: readonly string[];
}

export interface Selector {
  metric: string;
  matchers: readonly { label: string; operator: string; value: string }[];
}

interface Dashboard {
  uid: string;
  panels: { title: string; targets: { expr: string; legendFormat?: string }[] }[];
}

export const alertingRules = (
  parse(readDeployed('prometheus', 'rules.yml')) as {
    groups: { rules: { alert: string; expr: string }[] }[];
  }
).groups.flatMap(({ rules }) => rules);

const dashboards = readdirSync(join(deployFolder, 'grafana', 'dashboards')).map(
  (name) => JSON.parse(readDeployed('grafana', 'dashboards', name)) as Dashboard,
);

const namesIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => name);

export const panelExpressions: readonly Expression[] = dashboards.flatMap(({ uid, panels }) =>
  panels.flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat = '' }) => ({
      ...{ where: `${uid}: ${title}`, expr },
      shown: namesIn(legendFormat, /\{\{(\w+)\}\}/g),
    })),
  ),
);

export const deployedExpressions: readonly Expression[] = [
  ...alertingRules.map(({ alert, expr }) => ({ where: alert, expr, shown: [] })),
  ...panelExpressions,
];

/** The metrics of an expression, and what it requires of their labels. */
export function selectorsOf(expr: string): Selector[] {
  const series = /\b((?:concilia|nodejs|process)_\w+|up)\b(?:\{([^}]*)\})?/g;
  return [...expr.matchAll(series)].map(([, metric = '', matchers = '']) => ({
    metric,
    matchers: [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(
      ([, label = '', operator = '', value = '']) => ({ label, operator, value }),
    ),
  }));
}

/** The labels by which it groups. */
export function groupingOf(expr: string): string[] {
  return namesIn(expr, /\bby \(([^)]*)\)/g).flatMap((labels) => labels.split(/,\s*/));
}

/** Every metric of docs/reference/metrics.md with its labels. */
export function documentedMetrics(): Map<string, string[]> {
  const page = readFileSync(join(root, 'docs', 'reference', 'metrics.md'), 'utf8');
  const entries = page.matchAll(
    /^- `((?:concilia|nodejs|process)_\w+)`(?: by ((?:`\w+`,? ?)+))?/gm,
  );
  return new Map(
    [...entries].map(([, name = '', labels = '']) => [name, namesIn(labels, /`(\w+)`/g)]),
  );
}
