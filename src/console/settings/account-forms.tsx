// The forms of an account. What was typed stands in them again after a problem, without secrets.
import type { ComponentChildren } from 'preact';
import type { BankDetails } from '../../access/accounts/bank-details.schema.js';
import { firstAccountModes } from '../../platform/settings/config.js';
import type { AccountMode } from '../../access/accounts/account-mode.js';
import { Card } from '../kit/elements.js';
import { Field, Form } from '../kit/frame.js';
import type { Visit } from '../requests.js';
import { findTextKey, type TextKey } from '../texts.js';
import { pathTo } from '../visit.js';
import { detailFields, keyFields, pemFields, removableCredentials } from './account-form.js';
import type { AccountFacts } from './account-facts.service.js';

interface Props {
  visit: Visit;
  facts: AccountFacts;
}

const modes = ['live', 'stopped', 'reconcile_only'] as const satisfies readonly AccountMode[];
const requiredDetails = [
  'ispb',
  'bankName',
  'branch',
  'accountNumber',
  'holderName',
  'holderTaxId',
];

export function NameForm({ visit, facts }: Props) {
  const { t } = visit;
  return (
    <SettingsCard visit={visit} title="account.change" action="account">
      <Field label={t('account.name')} name="name" value={facts.name ?? ''} maxlength={200} />
      <Field
        label={t('account.weight')}
        hint={t('account.weightHint')}
        name="weight"
        type="number"
        min={1}
        max={100}
        value={facts.weight}
        required
      />
    </SettingsCard>
  );
}

export function ModeForm({ visit, facts }: Props) {
  const { t } = visit;
  return (
    <SettingsCard
      visit={visit}
      title="account.changeMode"
      why="account.modeWhy"
      action="account/mode"
      shown={facts.mode.mode}
    >
      <label>
        {t('account.newMode')}
        <select name="mode">
          {modes.map((mode) => (
            <option value={mode} selected={mode === facts.mode.mode}>
              {t(`account.mode.${mode}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        {t('account.registersWebhooks')}
        <select name="registersWebhooks">
          <option value="">{t('account.webhooksByMode')}</option>
          <option value="yes">{t('app.yes')}</option>
          <option value="no">{t('app.no')}</option>
        </select>
      </label>
      <Field label={t('app.reason')} name="reason" maxlength={500} required />
    </SettingsCard>
  );
}

export function DetailsForm({ visit, facts }: Props) {
  const { t } = visit;
  const { bankDetails } = facts;
  return (
    <SettingsCard
      visit={visit}
      title="account.details"
      why="account.detailsWhy"
      action="account/details"
    >
      <div class="fields">
        {detailFields.map((name) => {
          const hint = findTextKey(`account.details.${name}Hint`);
          return (
            <Field
              label={t(`account.details.${name}`)}
              {...(hint ? { hint: t(hint) } : {})}
              name={name}
              value={shownDetail(visit, bankDetails, name)}
              required={requiredDetails.includes(name)}
            />
          );
        })}
      </div>
    </SettingsCard>
  );
}

function shownDetail(
  { form }: Visit,
  details: BankDetails | null,
  name: (typeof detailFields)[number],
): string {
  return form.get(name) ?? details?.[name] ?? '';
}

export function CredentialsForm({ visit, facts }: Props) {
  const { t } = visit;
  if (facts.origin === 'settings')
    return (
      <Card title={t('account.changeCredentials')}>
        <p class="muted">{t('account.credentialsOfSettings')}</p>
      </Card>
    );
  const isSet = (name: string) => facts.credentialsSet.includes(name);
  return (
    <SettingsCard
      visit={visit}
      title="account.changeCredentials"
      why="account.credentialsEmpty"
      action="account/credentials"
    >
      <CredentialFields visit={visit} isRequired={false} />
      <fieldset>
        <legend>{t('account.remove')}</legend>
        {removableCredentials.filter(isSet).map((name) => (
          <label>
            <input type="checkbox" name="remove" value={name} />
            {t(`account.credential.${name}`)}
          </label>
        ))}
      </fieldset>
      <label>
        <input type="checkbox" name="isSameBankAccount" value="yes" />
        {t('account.isSame')}
        <span class="hint"> {t('account.isSameWhy')}</span>
      </label>
    </SettingsCard>
  );
}

export function NewAccountForm({ visit }: { visit: Visit }) {
  const { t, form } = visit;
  return (
    <SettingsCard
      visit={visit}
      title="account.add"
      why="account.addWhy"
      action="account/new"
      button="account.add"
    >
      <Field
        label={t('account.slug')}
        hint={t('account.slugHint')}
        name="slug"
        value={form.get('slug') ?? ''}
        pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
        maxlength={60}
        required
      />
      <Field label={t('account.name')} name="name" value={form.get('name') ?? ''} maxlength={200} />
      <label>
        {t('account.mode')}
        <select name="mode">
          {firstAccountModes.map((mode) => (
            <option value={mode}>{t(`account.mode.${mode}`)}</option>
          ))}
        </select>
      </label>
      <CredentialFields visit={visit} isRequired />
    </SettingsCard>
  );
}

/** Secrets are typed, and no browser stores or fills them in. */
function CredentialFields({ visit, isRequired }: { visit: Visit; isRequired: boolean }) {
  const { t } = visit;
  const secret = (name: string, label: TextKey, required = false) => (
    <Field label={t(label)} name={name} type="password" autocomplete="off" required={required} />
  );
  return (
    <div class="fields">
      {secret('apiKey', 'account.credential.apiKey', isRequired)}
      {keyFields.map((name) =>
        name.endsWith('Header') ? (
          <Field label={t(`account.credential.${name}`)} name={name} autocomplete="off" />
        ) : (
          secret(name, `account.credential.${name}`)
        ),
      )}
      <Field
        label={t('account.credential.accountHeader')}
        name="accountHeaderName"
        autocomplete="off"
      />
      {secret('accountHeaderValue', 'account.credential.accountHeaderValue')}
      {pemFields.map((name) => (
        <label>
          {t(`account.credential.${name}`)}
          <textarea name={name} autocomplete="off" spellcheck={false}></textarea>
        </label>
      ))}
      <Field
        label={t('account.credential.rateLimitPerSecond')}
        name="rateLimitPerSecond"
        type="number"
        min={1}
        max={100_000}
      />
    </div>
  );
}

/** A form in a card, with its button. */
function SettingsCard({
  visit,
  title,
  why,
  action,
  shown,
  button = 'account.save',
  children,
}: {
  visit: Visit;
  title: TextKey;
  why?: TextKey;
  /** The page to which the form is sent. */
  action: string;
  shown?: string;
  button?: TextKey;
  children: ComponentChildren;
}) {
  const { t } = visit;
  return (
    <Card title={t(title)}>
      {why && <p class="hint">{t(why)}</p>}
      <Form
        visit={visit}
        action={pathTo(visit, action)}
        {...(shown === undefined ? {} : { shown })}
      >
        {children}
        <button>{t(button)}</button>
      </Form>
    </Card>
  );
}
