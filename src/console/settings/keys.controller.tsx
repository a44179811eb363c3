// The API keys of the account. A key is shown once, on the page that answers its creation, and
// stands in no address, log or audit.
import { Controller } from '@nestjs/common';
import { createKey } from '../../access/accounts/accounts.schema.js';
import { ApiKeysService, type ApiKeyKind } from '../../access/accounts/api-keys.service.js';
import { scopes } from '../../access/accounts/scope.decorator.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { ApiKey } from '../../generated/service/client.js';
import { AppError } from '../../platform/errors.js';
import { isUuid, readPage, toList } from '../../platform/http/listing.js';
import { ConsoleAction, ConsolePage, Visiting } from '../serving/console-page.decorator.js';
import { Badge, Card, Pager } from '../kit/elements.js';
import { formatTime } from '../formats.js';
import { DataTable, Field, Form, Message, StepUpNotice } from '../kit/frame.js';
import { Redirect, Shown, type PageAnswer } from '../page.js';
import { problemKey } from '../problems.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { accountOf, pathId, pathTo, requireReason, typed } from '../visit.js';

const keys = '/console/accounts/:account/keys';
const needs = 'manage keys';
const kinds = ['api', 'partner'] as const satisfies readonly ApiKeyKind[];
const overlaps = [0, 3_600, 86_400, 604_800, 2_592_000] as const;
const defaultOverlap = 86_400;
const subject = (visit: Visit) => `key ${pathId(visit)}` as const;

/** What the last form has led to. */
interface Outcome {
  newKey?: string;
  problem?: TextKey;
}

@Controller()
export class KeyPages {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly database: Database,
  ) {}

  @ConsolePage({ path: keys, needs, menu: { title: 'keys.title', section: 'settings', place: 71 } })
  async list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction({
    path: keys,
    needs,
    audit: { action: 'create key', subject: (visit) => `account ${accountOf(visit).slug}` },
  })
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    const { form } = visit;
    const body = {
      name: typed(visit, 'name'),
      kind: form.get('kind'),
      scopes: form.getAll('scope'),
    };
    const parsed = createKey.body.safeParse(body);
    if (!parsed.success) {
      const wrong = parsed.error.issues.map(({ path }) => path[0]);
      return this.page(visit, { problem: problemOfField(wrong, body.scopes.length) });
    }
    return this.showing(visit, () => this.keys.create(accountOf(visit).id, parsed.data));
  }

  @ConsoleAction({ path: `${keys}/:id/rotate`, needs, audit: { action: 'rotate key', subject } })
  async rotate(@Visiting() visit: Visit): Promise<PageAnswer> {
    const overlapSeconds = overlaps.find((one) => String(one) === visit.form.get('overlap'));
    if (overlapSeconds === undefined) throw new AppError('validation_failed');
    return this.showing(visit, () =>
      this.keys.rotate(accountOf(visit).id, pathId(visit), overlapSeconds),
    );
  }

  @ConsoleAction({ path: `${keys}/:id/revoke`, needs, audit: { action: 'revoke key', subject } })
  async revoke(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    await this.keys.revoke(accountOf(visit).id, pathId(visit));
    return new Redirect(pathTo(visit, 'keys?revoked=1'));
  }

  private async showing(visit: Visit, make: () => Promise<{ key: string }>): Promise<Shown> {
    try {
      const { key } = await make();
      return await this.page(visit, { newKey: key });
    } catch (error) {
      const isRefusal = error instanceof AppError && error.status < 500;
      if (!isRefusal || error.code === 'not_found') throw error;
      return this.page(visit, { problem: problemKey(error) });
    }
  }

  private async page(visit: Visit, { newKey, problem }: Outcome = {}): Promise<Shown> {
    const { t, query } = visit;
    const { id } = accountOf(visit);
    const cursor = query.get('cursor') ?? undefined;
    const page = readPage({ cursor }, isUuid);
    const { data, next } = toList(await this.keys.listPage(id, page), page, (row) => row.id);
    const now = await this.database.now();
    const isLast = (await this.keys.countUsable(id)) === 1;
    const body = (
      <>
        <p>{t('keys.intro')}</p>
        <StepUpNotice visit={visit} />
        {newKey && (
          <Message kind="good">
            {t('keys.created')} <code>{newKey}</code>
          </Message>
        )}
        {problem && <Message kind="bad">{t(problem)}</Message>}
        {query.has('revoked') && <Message kind="good">{t('keys.revoked')}</Message>}
        <KeyTable visit={visit} keys={[...data]} facts={{ now, isLast }} />
        <Pager visit={{ ...visit, path: pathTo(visit, 'keys') }} next={next} />
        <NewKeyForm visit={visit} ticked={problem ? visit.form.getAll('scope') : []} />
      </>
    );
    return new Shown(t('keys.title'), body, { status: problem ? 422 : 200 });
  }
}

function problemOfField(wrong: readonly unknown[], scopeCount: number): TextKey {
  if (wrong.includes('name')) return 'keys.noName';
  return scopeCount === 0 ? 'keys.noScope' : 'keys.onboardOnly';
}

interface Facts {
  now: Date;
  /** Whether one key only is accepted now. */
  isLast: boolean;
}

function KeyTable({
  visit,
  keys: listed,
  facts,
}: {
  visit: Visit;
  keys: readonly ApiKey[];
  facts: Facts;
}) {
  const { t, language } = visit;
  return (
    <Card title={t('keys.title')}>
      <DataTable
        empty={t('keys.empty')}
        visit={visit}
        name={t('keys.title')}
        columns={[
          'keys.name',
          'keys.hint',
          'keys.scopes',
          'keys.createdAt',
          'keys.state',
          'keys.actions',
        ]}
      >
        {listed.map((key) => (
          <tr>
            <td class="wide">
              {key.name ?? t('keys.ofSettings')}
              <div class="hint">{t(`keys.kind.${key.kind as ApiKeyKind}`)}</div>
            </td>
            <td>{key.hint === null ? t('app.none') : <code>{`…${key.hint}`}</code>}</td>
            <td class="wide">{key.scopes.map((scope) => scopeName(visit, scope)).join(', ')}</td>
            <td>{formatTime(key.createdAt, language)}</td>
            <td>
              <KeyState visit={visit} apiKey={key} now={facts.now} />
            </td>
            <td>
              <KeyActions visit={visit} apiKey={key} facts={facts} />
            </td>
          </tr>
        ))}
      </DataTable>
    </Card>
  );
}

function scopeName({ t }: Visit, scope: string): string {
  const key = findTextKey(`scope.${scope}`);
  return key ? t(key) : scope;
}

function isUsable({ revokedAt, expiresAt }: ApiKey, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

function KeyState({ visit, apiKey, now }: { visit: Visit; apiKey: ApiKey; now: Date }) {
  const { t, language } = visit;
  const { revokedAt, expiresAt } = apiKey;
  const at = (key: TextKey, time: Date) => t(key, { time: formatTime(time, language) });
  if (revokedAt) return <Badge tone="bad" text={at('keys.state.revoked', revokedAt)} />;
  if (!expiresAt) return <Badge tone="good" text={t('keys.state.usable')} />;
  return isUsable(apiKey, now) ? (
    <Badge tone="warn" text={at('keys.state.ending', expiresAt)} />
  ) : (
    <Badge tone="plain" text={at('keys.state.expired', expiresAt)} />
  );
}

function KeyActions({ visit, apiKey, facts }: { visit: Visit; apiKey: ApiKey; facts: Facts }) {
  const { t } = visit;
  const { id, name, origin, expiresAt } = apiKey;
  if (origin === 'settings' || !isUsable(apiKey, facts.now)) return null;
  const path = pathTo(visit, `keys/${id}`);
  return (
    <details>
      <summary>{t('keys.manage')}</summary>
      {expiresAt === null && (
        <Form visit={visit} action={`${path}/rotate`} shown={`hint ${apiKey.hint}`}>
          <label>
            {t('keys.overlap')}
            <select name="overlap">
              {overlaps.map((seconds) => (
                <option value={seconds} selected={seconds === defaultOverlap}>
                  {t(`keys.overlap.${seconds}`)}
                </option>
              ))}
            </select>
          </label>
          <button class="plain" aria-label={`${t('keys.rotate')}: ${name}`}>
            {t('keys.rotate')}
          </button>
        </Form>
      )}
      <Form visit={visit} action={`${path}/revoke`} shown={`hint ${apiKey.hint}`}>
        {facts.isLast && <p class="notice warn">{t('keys.lastOne')}</p>}
        <Field label={t('app.reason')} name="reason" maxlength={500} required />
        <button class="plain" aria-label={`${t('keys.revoke')}: ${name}`}>
          {t('keys.revoke')}
        </button>
      </Form>
    </details>
  );
}

function NewKeyForm({ visit, ticked }: { visit: Visit; ticked: readonly string[] }) {
  const { t } = visit;
  return (
    <Card title={t('keys.create')}>
      <Form visit={visit} action={pathTo(visit, 'keys')}>
        <Field
          label={t('keys.name')}
          hint={t('keys.nameHint')}
          name="name"
          maxlength={100}
          required
        />
        <label>
          {t('keys.kind')}
          <select name="kind">
            {kinds.map((kind) => (
              <option value={kind}>{t(`keys.kind.${kind}`)}</option>
            ))}
          </select>
        </label>
        <fieldset>
          <legend>{t('keys.scopes')}</legend>
          {scopes.map((scope) => (
            <label class="choice">
              <input type="checkbox" name="scope" value={scope} checked={ticked.includes(scope)} />
              {t(`scope.${scope}`)}
              <span class="hint">
                {' '}
                {t(`scope.${scope}.why`)} · <code>{scope}</code>
              </span>
            </label>
          ))}
        </fieldset>
        <button>{t('keys.create')}</button>
      </Form>
    </Card>
  );
}
