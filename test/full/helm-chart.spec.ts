// The chart's rendered manifests are what Kubernetes accepts: by the types of its schemas, which
// also refuse misspelt fields, and by their validators. They hold no secret; every role is there.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import { secretSettings } from '../../src/platform/settings/environment.js';
import { settingSchemas } from '../../src/platform/settings/config.js';
import { deployFolder } from '../support/deployed-metrics.js';

const root = join(import.meta.dirname, '..', '..');
/** .ci/run installs Helm and the npm package `kubernetes-models` there. */
const tools = join(root, '.prepared', 'kubernetes');
const helm = [join(tools, 'helm', 'helm'), 'helm'].find(
  (program) => spawnSync(program, ['version']).status === 0,
);
const isInstalled = helm && existsSync(join(tools, 'node_modules', 'kubernetes-models'));
if (!isInstalled)
  process.stderr.write('The tests of the Helm chart are skipped: no helm, kubernetes-models.\n');
const run = isInstalled ? describe : describe.skip;

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: { template?: { spec: { containers: Container[] } } };
}
interface Container {
  env: { name: string; value: string }[];
  securityContext: { readOnlyRootFilesystem: boolean };
}

const values = {
  ...{ 'image.repository': 'registry.example/concilia', 'settings.LOG_LEVEL': 'warn' },
  'settings.PUBLIC_URL': 'https://concilia.example',
  'settings.BANK_BASE_URL': 'https://bank.example',
};

function runHelm(...args: string[]) {
  const chart = join(deployFolder, 'helm', 'concilia');
  const { status, stdout, stderr } = spawnSync(helm ?? '', [...args, chart], { encoding: 'utf8' });
  return { status, stdout, stderr };
}
const given = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);

function render(): Manifest[] {
  const { status, stdout, stderr } = runHelm('template', 'shop', ...given);
  expect([status, stderr]).toEqual([0, '']);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

/** What the compiler and the validators of Kubernetes's schemas say; empty: nothing. */
function problemsOf(manifests: readonly object[]): string {
  const folder = join(tools, 'check');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const lines = (manifests as Manifest[]).flatMap(({ apiVersion, kind, ...rest }, index) => [
    `import { ${kind} as Kind${index} } from 'kubernetes-models/${apiVersion}';`,
    `new Kind${index}(${JSON.stringify(rest)}).validate();`,
  ]);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
  const node = (...args: string[]) => spawnSync(process.execPath, args, { encoding: 'utf8' });
  const compiled = node(
    join(root, 'node_modules/typescript-7/bin/tsc'),
    ...['--ignoreConfig', '--strict', '--skipLibCheck', '--target', 'es2023', '--module', 'esnext'],
    ...['--moduleResolution', 'bundler', '--types', '', join(folder, 'manifests.ts')],
  );
  const validated = node(join(folder, 'manifests.js'));
  return [compiled.stdout, validated.stderr].join('').trim();
}

run('the Helm chart', () => {
  it('is a chart that Helm accepts, and says what is missing', () => {
    expect(runHelm('lint', '--strict', ...given).status).toBe(0);
    expect(runHelm('template', 'shop').stderr).toMatch(/(settings\.\w+|image\.\w+) is missing/);
  });

  it('renders manifests that the schemas of Kubernetes accept', () => {
    const manifests = render();
    expect(problemsOf(manifests)).toBe('');
    const [one] = manifests.filter(({ kind }) => kind === 'Deployment');
    const misspelt = { ...one, spec: { ...one?.spec, replica: 2 } };
    expect(problemsOf([misspelt])).toMatch(/'replica'|"replica"/);
    const wrong = { ...one, spec: { ...one?.spec, replicas: 'two' } };
    expect(problemsOf([wrong])).toMatch(/replicas/);
  }, 120_000);

  it('runs each role and the migrations, with settings that exist and secrets from files', () => {
    const manifests = render();
    expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
      ...['api', 'scheduler', 'worker'].map((role) => `Deployment shop-${role}`),
      'Job shop-migrate',
      ...['api', 'scheduler', 'worker'].map((role) => `PodDisruptionBudget shop-${role}`),
      'Service shop-api',
    ]);
    const containers = manifests.flatMap(({ spec }) => spec.template?.spec.containers ?? []);
    expect(containers.map(({ env }) => env.find(({ name }) => name === 'ROLES')?.value)).toEqual(
      expect.arrayContaining(['api', 'scheduler', 'worker', undefined]),
    );
    for (const { env, securityContext } of containers) {
      expect(securityContext.readOnlyRootFilesystem).toBe(true);
      const known = [
        ...Object.keys(settingSchemas).filter((name) => !secretSettings.includes(name)),
        ...secretSettings.map((name) => `${name}_FILE`),
      ];
      expect(env.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
    }
  });
});
