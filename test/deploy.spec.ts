// deploy/ names what exists: metrics with their labels (a test of the running service compares the
// documented ones with a scrape), settings, and a runbook entry and a test for each alert.
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { settingSchemas } from '../src/platform/settings/config.js';
import { secretSettings } from '../src/platform/settings/environment.js';
import {
  alertingRules,
  deployedExpressions,
  documentedMetrics,
  groupingOf,
  panelExpressions,
  readDeployed,
  selectorsOf,
  type Expression,
} from './support/deployed-metrics.js';

const documented = documentedMetrics();
const settings = [...Object.keys(settingSchemas), ...secretSettings.map((name) => `${name}_FILE`)];
/** The labels that Prometheus adds. The service's own `job` is renamed by them. */
const targetLabels = ['job', 'instance'];

function labelsOf(metric: string): string[] | null {
  if (metric === 'up') return targetLabels;
  const [, name = metric, part] = /^(.*)_(bucket|sum|count)$/.exec(metric) ?? [];
  const labels = documented.get(metric) ?? documented.get(name);
  if (!labels) return null;
  const own = labels.map((label) => (label === 'job' ? 'exported_job' : label));
  return [...targetLabels, ...own, ...(part === 'bucket' ? ['le'] : [])];
}

function problemsOf({ where, expr, shown }: Expression): string[] {
  const selectors = selectorsOf(expr);
  const known = selectors.flatMap(({ metric }) => labelsOf(metric) ?? []);
  const unknown = [...groupingOf(expr), ...shown].filter((label) => !known.includes(label));
  const inSelectors = selectors.flatMap(({ metric, matchers }) => {
    const labels = labelsOf(metric);
    if (!labels) return [metric];
    return matchers.flatMap(({ label }) => (labels.includes(label) ? [] : `${metric} ${label}`));
  });
  const problems = [...(selectors.length === 0 ? ['no metric'] : []), ...inSelectors, ...unknown];
  return problems.map((problem) => `${where}: ${problem}`);
}

describe('rules and dashboards', () => {
  it('name metrics and labels that the service has', () => {
    expect(deployedExpressions.flatMap(problemsOf)).toEqual([]);
    expect(panelExpressions.length).toBeGreaterThan(50);
  });

  it('would be refused with others', () => {
    const problemsIn = (expr: string, shown: string[] = []) =>
      problemsOf({ where: 'x', expr, shown });
    expect(
      problemsIn('sum by (job, stat) (concilia_queue_jobs{job="a",kind="b"})', ['le']),
    ).toEqual(['x: concilia_queue_jobs kind', 'x: stat', 'x: le']);
    expect(problemsIn('rate(concilia_queue_job[1m])')).toEqual(['x: concilia_queue_job']);
    expect(problemsIn('vector(1)')).toEqual(['x: no metric']);
  });
});

describe('an alert', () => {
  const names = alertingRules.map(({ alert }) => alert);

  it('has an entry in the runbook: the meaning, where to look, what to do, what not', () => {
    const [, ...entries] = readDeployed('RUNBOOK.md').split(/^## /m);
    expect(entries.map((entry) => /^\w+/.exec(entry)?.[0])).toEqual(names);
    for (const entry of entries) {
      expect(entry).toMatch(
        /^\w+\n\n[A-Z[][^*]+\*\*Look\*\*: .+\*\*Do\*\*: .+\*\*Do not\*\*: .+\n+$/,
      );
      expect([entry, entry.split(/\s+/).length <= 46]).toEqual([entry, true]);
    }
  });

  it('has an entry that names metrics and settings that exist', () => {
    const runbook = readDeployed('RUNBOOK.md');
    const metrics = selectorsOf(runbook).filter(({ metric }) => metric !== 'up');
    expect(metrics.filter(({ metric }) => !labelsOf(metric))).toEqual([]);
    const named = [...runbook.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, name]) => name);
    expect(named).toContain('DATABASE_POOL_SIZE');
    expect(named.filter((name = '') => !settings.includes(name))).toEqual([]);
  });

  it('is tested: once silent, and once firing', () => {
    const { tests } = parse(readDeployed('prometheus', 'rules.test.yml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
    };
    const cases = tests.flatMap((one) => one.alert_rule_test);
    const testedWith = (isFiring: boolean) => {
      const found = cases.filter(({ exp_alerts: alerts = [] }) => alerts.length > 0 === isFiring);
      return new Set(found.map(({ alertname }) => alertname));
    };
    expect([testedWith(true), testedWith(false)]).toEqual([new Set(names), new Set(names)]);
  });
});

/** Variables of the compose file that are no settings of the service. */
const ofCompose = ['POSTGRES_PASSWORD', 'GRAFANA_PASSWORD', 'COMMIT'];

describe('the compose file', () => {
  const text = readDeployed('compose.yaml');
  const { services } = parse(text, { merge: true }) as {
    services: Record<string, { image: string; environment?: Record<string, string> }>;
  };

  it('names settings that exist', () => {
    const named = Object.values(services)
      .filter(({ image }) => image === 'concilia')
      .flatMap(({ environment = {} }) => Object.keys(environment));
    expect(named).toEqual(expect.arrayContaining(['ROLES', 'DATABASE_URL', 'REDIS_URL']));
    const inText = [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
    const known = [...settings, ...ofCompose];
    expect([...named, ...inText].filter((name = '') => !known.includes(name))).toEqual([]);
  });
});

it('the Helm chart names settings that exist, and secrets that a file may hold', () => {
  const values = parse(readDeployed('helm', 'concilia', 'values.yaml')) as {
    settings: object;
    secrets: { settings: string[] };
  };
  const named = Object.keys(values.settings);
  expect(
    named.filter((name) => !(name in settingSchemas) || secretSettings.includes(name)),
  ).toEqual([]);
  expect(secretSettings).toEqual(expect.arrayContaining(values.secrets.settings));
});
