// What an admin may change of an account: the fields of each form, and the request that it asks
// for, which is that of the API.
import type { z } from 'zod';
import { createAccount, updateAccount } from '../../access/accounts/accounts.schema.js';
import type { AccountMode } from '../../generated/service/enums.js';
import { firstAccountModes } from '../../platform/settings/config.js';
import { Card, Cards, Muted } from '../kit/elements.js';
import {
  FormCard,
  FormProblem,
  readBody,
  typedBody,
  type FormField,
  type FormFields,
} from '../kit/form.js';
import { useVisit, type Visit } from '../visit.js';
import { findTextKey } from '../texts.js';
import type { AccountFacts } from './account-facts.service.js';

type Update = z.output<typeof updateAccount.body>;

const nameField = { label: 'word.name', maxLength: 200 } as const;
const nameFields: FormFields = {
  name: nameField,
  weight: {
    ...{ label: 'account.weight', hint: 'account.weightHint', is: 'number', min: 1, max: 100 },
    required: true,
  },
};

const modes = ['live', 'stopped', 'reconcile_only'] as const satisfies readonly AccountMode[];
const modeFields = ({ t }: Visit): FormFields => ({
  mode: {
    label: 'account.newMode',
    is: 'choice',
    options: modes.map((mode) => [mode, t(`account.mode.${mode}`)]),
  },
  registersWebhooks: {
    label: 'account.registersWebhooks',
    is: 'choice',
    options: [
      ['', t('account.webhooksByMode')],
      ['yes', t('app.yes')],
      ['no', t('app.no')],
    ],
  },
});

const requiredDetails = new Set<string>([
  ...['ispb', 'bankName', 'branch', 'accountNumber', 'holderName', 'holderTaxId'],
]);
const detailNames = [
  ...(['bankCode', 'ispb', 'bankName', 'branch', 'branchDigit'] as const),
  ...(['accountNumber', 'accountDigit', 'holderName', 'holderTaxId', 'agreement'] as const),
];
const detailFields: FormFields = Object.fromEntries(
  detailNames.map((name): [string, FormField] => {
    const hint = findTextKey(`account.details.${name}Hint`);
    const required = requiredDetails.has(name);
    return [name, { label: `account.details.${name}`, required, ...(hint ? { hint } : {}) }];
  }),
);

const credentialFields = (isNew: boolean) =>
  ({
    apiKey: { label: 'account.credential.apiKey', is: 'secret', required: isNew },
    partnerKey: { label: 'account.credential.partnerKey', is: 'secret' },
    apiKeyHeader: { label: 'account.credential.apiKeyHeader' },
    partnerKeyHeader: { label: 'account.credential.partnerKeyHeader' },
    webhookSecret: { label: 'account.credential.webhookSecret', is: 'secret' },
    accountHeaderName: { label: 'account.credential.accountHeader' },
    accountHeaderValue: { label: 'account.credential.accountHeaderValue', is: 'secret' },
    clientCertificate: { label: 'account.credential.clientCertificate', is: 'lines' },
    clientKey: { label: 'account.credential.clientKey', is: 'secretLines' },
    ca: { label: 'account.credential.ca', is: 'lines' },
    rateLimitPerSecond: {
      ...{ label: 'account.credential.rateLimitPerSecond', is: 'number', min: 1, max: 100_000 },
    },
  }) as const satisfies FormFields;

const removableCredentials = [
  ...([
    'partnerKey',
    'apiKeyHeader',
    'partnerKeyHeader',
    'webhookSecret',
    'accountHeader',
  ] as const),
  ...(['clientCertificate', 'clientKey', 'ca', 'rateLimitPerSecond'] as const),
];

const changedCredentialFields = ({ t }: Visit, set: readonly string[]): FormFields => ({
  ...credentialFields(false),
  remove: {
    label: 'word.remove',
    is: 'choices',
    options: removableCredentials
      .filter((name) => set.includes(name))
      .map((name) => [name, t(`account.credential.${name}`)]),
  },
  isSameBankAccount: { label: 'account.isSame', hint: 'account.isSameWhy', is: 'check' },
});

const newAccountFields = ({ t }: Visit): FormFields => ({
  slug: {
    ...{ label: 'account.slug', hint: 'account.slugHint', maxLength: 60, required: true },
    pattern: String.raw`[a-z0-9]([a-z0-9\-]*[a-z0-9])?`,
  },
  name: nameField,
  mode: {
    label: 'word.mode',
    is: 'choice',
    options: firstAccountModes.map((mode) => [mode, t(`account.mode.${mode}`)]),
  },
  ...credentialFields(true),
});

/** After a trial that did not succeed, the person may save the key all the same. */
const untriedField = ({ problem }: Visit): FormFields =>
  problem?.details.errors?.['$.credentials.apiKey'] && problem.code === 'rule_broken'
    ? { isKeyUntried: { label: 'account.isUntried', hint: 'account.isUntriedWhy', is: 'check' } }
    : {};

const readTries = ({ form }: Visit): boolean => !form.has('isKeyUntried');

export function readNameAndWeight(visit: Visit): Update {
  const { name = null, weight } = typedBody(visit, nameFields);
  return readBody(updateAccount.body, { name, weight });
}

/** Without any field, the details are removed. */
export function readBankDetails(visit: Visit): Update {
  const details = typedBody(visit, detailFields);
  const isEmpty = Object.values(details).every((value) => value === undefined);
  return readBody(updateAccount.body, { bankDetails: isEmpty ? null : details });
}

/** An empty field keeps the credential. */
export function readCredentials(visit: Visit): Update {
  const isSameBankAccount = visit.form.has('isSameBankAccount');
  const triesKey = readTries(visit);
  const given = { credentials: credentialsIn(visit), isSameBankAccount, triesKey };
  return readBody(updateAccount.body, given);
}

export function readNewAccount(visit: Visit): z.output<typeof createAccount.body> {
  const { slug, name, mode } = typedBody(visit, newAccountFields(visit));
  const given = { slug, name, mode, triesKey: readTries(visit) };
  return readBody(createAccount.body, { ...given, credentials: credentialsIn(visit) });
}

function credentialsIn(visit: Visit): Record<string, unknown> {
  const typed = typedBody(visit, credentialFields(false));
  const { accountHeaderName: name, accountHeaderValue: value = '', ...given } = typed;
  const removed = visit.form.getAll('remove');
  return {
    ...given,
    accountHeader: name === undefined ? undefined : { name, value },
    ...Object.fromEntries(
      removableCredentials.filter((one) => removed.includes(one)).map((one) => [one, null]),
    ),
  };
}

export function AccountForms({ facts }: { facts: AccountFacts }) {
  const visit = useVisit();
  const { bankDetails, mode, origin } = facts;
  const sentTo = (page: string) => ({ action: visit.to(page), button: 'app.save' }) as const;
  return (
    <>
      <Cards>
        <FormCard
          {...sentTo('account')}
          title="account.change"
          fields={nameFields}
          values={{ name: facts.name, weight: facts.weight }}
        />
        <FormCard
          {...sentTo('account/mode')}
          title="account.changeMode"
          intro="account.modeWhy"
          fields={modeFields(visit)}
          values={{ mode: mode.mode }}
          shown={mode.mode}
          asksReason
        />
      </Cards>
      <FormCard
        {...sentTo('account/details')}
        title="account.details"
        intro="account.detailsWhy"
        fields={detailFields}
        values={{ ...bankDetails }}
      />
      {origin === 'settings' ? (
        <Card title={visit.t('account.changeCredentials')}>
          {visit.path === visit.to('account/credentials') && <FormProblem />}
          <Muted>{visit.t('account.credentialsOfSettings')}</Muted>
        </Card>
      ) : (
        <FormCard
          {...sentTo('account/credentials')}
          title="account.changeCredentials"
          intro="account.credentialsEmpty"
          fields={{
            ...changedCredentialFields(visit, facts.credentialsSet),
            ...untriedField(visit),
          }}
        />
      )}
    </>
  );
}

export function NewAccountForm() {
  const visit = useVisit();
  return (
    <FormCard
      fields={{ ...newAccountFields(visit), ...untriedField(visit) }}
      title="account.add"
      intro="account.addWhy"
      action={visit.to('account/new')}
      button="account.add"
    />
  );
}
