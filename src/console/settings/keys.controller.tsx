// The API keys of the account. A key is shown once, on the page that answers its creation, and
// stands in no address, log or audit.
import { Controller } from '@nestjs/common';
import { createKey } from '../../access/accounts/accounts.schema.js';
import { ApiKeysService, type ApiKeyKind } from '../../access/accounts/api-keys.service.js';
import { scopes } from '../../access/accounts/scope.decorator.js';
import { Database } from '../../platform/postgres/database.service.js';
import type { ApiKey } from '../../generated/service/client.js';
import { AppError, unlisted } from '../../platform/errors.js';
import { newId } from '../../platform/ids.js';
import { orderedListQuery, readUuid, toList } from '../../platform/http/listing.js';
import {
  ConsoleAction,
  ConsolePage,
  Visiting,
  ShownAgainBy,
} from '../serving/console-page.decorator.js';
import { Badge, Message, Button } from '../kit/elements.js';
import {
  Fields,
  FormCard,
  FormProblem,
  reasonField,
  typedBody,
  Form,
  type FormFields,
} from '../kit/form.js';
import { listPage } from '../kit/list-page.js';
import type { ListColumns } from '../kit/table.js';
import { Redirect, type PageAnswer } from '../page.js';
import { pathId, requireReason, useVisit, type Visit } from '../visit.js';
import { type TextKey, wordOf } from '../texts.js';

const needs = 'manage keys';
const kinds = ['api', 'partner'] as const satisfies readonly ApiKeyKind[];
const overlaps = [0, 3_600, 86_400, 604_800, 2_592_000] as const;
const defaultOverlap = 86_400;
const subject = 'key :id';

const newKeyFields = ({ t }: Visit): FormFields => ({
  name: { label: 'word.name', hint: 'keys.nameHint', maxLength: 100, required: true },
  kind: {
    label: 'word.kind',
    is: 'choice',
    options: kinds.map((kind) => [kind, t(`keys.kind.${kind}`)]),
  },
  scope: {
    label: 'keys.scopes',
    is: 'choices',
    options: scopes.map((one) => [one, t(`scope.${one}`), `${t(`scope.${one}.why`)} · ${one}`]),
  },
});
const overlapField = ({ t }: Visit): FormFields => ({
  overlap: {
    label: 'keys.overlap',
    is: 'choice',
    options: overlaps.map((seconds) => [String(seconds), t(`keys.overlap.${seconds}`)]),
  },
});

@Controller()
export class KeyPages {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly database: Database,
  ) {}

  @ConsolePage('keys', needs, { title: 'keys.title', section: 'settings', place: 71 })
  list(@Visiting() visit: Visit): Promise<PageAnswer> {
    return this.page(visit);
  }

  @ConsoleAction('keys', needs, 'create key', 'account :account')
  @ShownAgainBy('list')
  async create(@Visiting() visit: Visit): Promise<PageAnswer> {
    const made = await this.keys.create(visit.accountId, readNewKey(visit), formIdOf(visit));
    return this.page(visit, made.key);
  }

  @ConsoleAction('keys/:id/rotate', needs, 'rotate key', subject)
  @ShownAgainBy('list')
  async rotate(@Visiting() visit: Visit): Promise<PageAnswer> {
    const overlapSeconds = overlaps.find((one) => String(one) === visit.form.get('overlap'));
    if (overlapSeconds === undefined) throw new AppError('validation_failed');
    const made = await this.keys.rotate(visit.accountId, pathId(visit), overlapSeconds);
    return this.page(visit, made.key);
  }

  @ConsoleAction('keys/:id/revoke', needs, 'revoke key', subject)
  async revoke(@Visiting() visit: Visit): Promise<PageAnswer> {
    requireReason(visit);
    await this.keys.revoke(visit.accountId, pathId(visit));
    return new Redirect(visit.to('keys?revoked=1'));
  }

  private async page(visit: Visit, newKey?: string): Promise<PageAnswer> {
    const { t, accountId } = visit;
    const isOfNewKey = visit.path === visit.to('keys');
    const now = await this.database.now();
    const isLast = (await this.keys.countUsable(accountId)) === 1;
    return listPage({
      ...{ visit, page: 'keys', title: 'keys.title', empty: 'keys.empty' },
      query: orderedListQuery({}),
      filters: {},
      read: async (page) => toList(await this.keys.listPage(accountId, page), page, ({ id }) => id),
      columns: () => keyColumns(visit, { now, isLast }),
      before: (
        <>
          <p>{t('keys.intro')}</p>
          {newKey && (
            <Message kind="good">
              {t('keys.created')} <code>{newKey}</code>
            </Message>
          )}
          {!isOfNewKey && <FormProblem />}
          {visit.query.has('revoked') && <Message kind="good">{t('keys.revoked')}</Message>}
        </>
      ),
      after: (
        <FormCard
          {...{ title: 'keys.create', button: 'keys.create', area: 'keys' }}
          fields={newKeyFields(visit)}
          action={visit.to('keys')}
          hidden={{ formId: newId() }}
        />
      ),
    });
  }
}

/** Made when the form was shown: a form that is sent twice makes one key. */
function formIdOf({ form }: Visit): string {
  return readUuid(form.get('formId') ?? '');
}

/** Its reasons have words of the console. */
function readNewKey(visit: Visit) {
  const { scope, ...given } = typedBody(visit, newKeyFields(visit));
  const parsed = createKey.body.safeParse({ ...given, scopes: scope });
  if (parsed.success) return parsed.data;
  const isNameWrong = parsed.error.issues.some(({ path }) => path[0] === 'name');
  const isWithoutScope = !visit.form.has('scope');
  const reason = isNameWrong ? 'noName' : isWithoutScope ? 'noScope' : 'onboardOnly';
  throw new AppError('validation_failed', { reason: unlisted(reason) });
}

interface Facts {
  now: Date;
  /** Whether one key only is accepted now. */
  isLast: boolean;
}

const keyColumns = ({ t }: Visit, facts: Facts): ListColumns<ApiKey> => ({
  'word.name': {
    wide: ({ name }) => name ?? t('keys.ofSettings'),
    below: { label: 'word.kind', cell: ({ kind }) => t(`keys.kind.${kind as ApiKeyKind}`) },
  },
  'keys.hint': ({ hint }) => hint && <code>{`…${hint}`}</code>,
  'keys.scopes': { wide: (key) => key.scopes.map((scope) => wordOf(t, 'scope', scope)).join(', ') },
  'word.madeAt': { at: ({ createdAt }) => createdAt, isOrder: true },
  'word.status': (apiKey) => <KeyState {...{ apiKey, now: facts.now }} />,
  'word.actions': { cell: (apiKey) => <KeyActions {...{ apiKey, facts }} />, isOnly: 'page' },
});

function isUsable({ revokedAt, expiresAt }: ApiKey, now: Date): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > now);
}

function KeyState({ apiKey, now }: { apiKey: ApiKey; now: Date }) {
  const { t, time } = useVisit();
  const { revokedAt, expiresAt } = apiKey;
  const at = (key: TextKey, date: Date) => t(key, { time: time(date) });
  if (revokedAt) return <Badge tone="bad" text={at('keys.state.revoked', revokedAt)} />;
  if (!expiresAt) return <Badge tone="good" text={t('keys.state.usable')} />;
  return isUsable(apiKey, now) ? (
    <Badge tone="warn" text={at('keys.state.ending', expiresAt)} />
  ) : (
    <Badge tone="plain" text={at('keys.state.expired', expiresAt)} />
  );
}

function KeyActions({ apiKey, facts }: { apiKey: ApiKey; facts: Facts }) {
  const visit = useVisit();
  const { t } = visit;
  const { id, name, origin, expiresAt, hint } = apiKey;
  if (origin === 'settings' || !isUsable(apiKey, facts.now)) return null;
  const step = (action: 'rotate' | 'revoke', fields: FormFields) => (
    <Form action={visit.to(`keys/${id}/${action}`)} shown={`hint ${hint}`}>
      {action === 'revoke' && facts.isLast && <Message kind="warn">{t('keys.lastOne')}</Message>}
      <Fields {...{ fields, values: { overlap: defaultOverlap } }} />
      <Button is="plain" aria-label={`${t(`keys.${action}`)}: ${name}`}>
        {t(`keys.${action}`)}
      </Button>
    </Form>
  );
  return (
    <details>
      <summary>{t('keys.manage')}</summary>
      {expiresAt === null && step('rotate', overlapField(visit))}
      {step('revoke', reasonField)}
    </details>
  );
}
