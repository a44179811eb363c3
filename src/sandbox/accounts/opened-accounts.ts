// The accounts that a new bank opens: those of the fixtures, or those that a test asks for.
import { parseReais } from '../../brazil/cents.js';
import { parsePixKey, type PixKey } from '../../brazil/pix-key.js';
import { parseTaxId } from '../../brazil/tax-id.js';
import { fixtureAccounts, type FixtureAccount } from './fixtures.js';

/** What is left out is that of the fixture at its place. */
export interface RequestedAccount {
  name?: string | undefined;
  /** CPF or CNPJ. */
  document?: string | undefined;
  /** In reais: '1000.00'. */
  balance?: string | undefined;
  apiKey?: string | undefined;
  pixKeys?: readonly string[] | undefined;
}

export interface OpenedAccount extends FixtureAccount {
  apiKey: string;
}

/** Their numbers begin at 1000001. Throws RangeError for one that cannot be opened. */
export function openedAccounts(
  requested: readonly RequestedAccount[],
  firstKey = 'sandbox-dev-key',
): readonly [OpenedAccount, ...OpenedAccount[]] {
  const [first, ...others] = requested.map((request, index) => opened(request, index, firstKey));
  if (!first) throw new RangeError('A bank needs an account.');
  const accounts = [first, ...others] as const;
  requireDistinct(
    accounts.map(({ apiKey }) => apiKey),
    'API key',
  );
  requireDistinct(
    accounts.flatMap(({ dictKeys }) => dictKeys.map(({ key }) => key)),
    'Pix key',
  );
  return accounts;
}

/** Every account of the fixtures. */
export function openedFixtures(firstKey?: string): readonly [OpenedAccount, ...OpenedAccount[]] {
  return openedAccounts(
    fixtureAccounts.map(() => ({})),
    firstKey,
  );
}

function opened(request: RequestedAccount, index: number, firstKey: string): OpenedAccount {
  const { name, document, balance, apiKey, pixKeys } = request;
  const fixture = fixtureAccounts[index % fixtureAccounts.length] as FixtureAccount;
  const taxId = parseTaxId(document ?? fixture.holderDocument);
  if (!taxId) throw new RangeError(`${document} is no CPF and no CNPJ.`);
  const cents = balance === undefined ? null : parseReais(balance);
  if (cents && (!cents.ok || cents.cents < 0n))
    throw new RangeError(`${balance} is no balance: it is written as 1000.00.`);
  const isFixture = index < fixtureAccounts.length && document === undefined;
  return {
    ...fixture,
    number: String(1_000_001 + index),
    holderName: name ?? fixture.holderName,
    holderDocument: taxId.number,
    holderType: taxId.kind,
    openingBalanceCents: cents?.ok ? cents.cents : fixture.openingBalanceCents,
    // Requests that name no key need a random one.
    dictKeys:
      isFixture && !pixKeys
        ? fixture.dictKeys
        : [...(pixKeys ?? []).map(pixKeyOf), randomKey(index)],
    apiKey: apiKey ?? (index === 0 ? firstKey : `sandbox-dev-key-${index + 1}`),
  };
}

function pixKeyOf(text: string): PixKey {
  const key = parsePixKey(text);
  if (!key) throw new RangeError(`${text} is no Pix key.`);
  return key;
}

/** No account of the fixtures and no outside holder has it. */
function randomKey(index: number): PixKey {
  const end = String(index + 1).padStart(12, '0');
  return { kind: 'EVP', key: `6e6f2d5c-1a0b-4c3d-8e60-${end}` };
}

function requireDistinct(values: readonly string[], kind: string): void {
  const twice = values.find((value, index) => values.indexOf(value) !== index);
  if (twice !== undefined) throw new RangeError(`Two accounts have the same ${kind}: ${twice}.`);
}
