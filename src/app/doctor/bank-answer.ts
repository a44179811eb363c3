// Whether the bank answers, accepts the key of the settings, and has our time. It reads one line of
// the statement, and changes nothing.
import { readFile } from 'node:fs/promises';
import { settingsCredentials } from '../../access/accounts/credentials.js';
import { BankConnections } from '../../bank/bank-connections.service.js';
import { encodePathAndQuery } from '../../bank/request-encoding.js';
import { listTransactions } from '../../bank-contract/statement.js';
import { describeClockDifference } from '../../platform/http/health.js';
import { Addresses } from '../../platform/http/http.js';
import type { Settings } from '../../platform/settings/config.js';
import { failed, passed, unchecked, warned, type SetUpFinding } from './finding.js';

const deadlineMs = 10_000;
/** The header `Date` has no fraction of a second. */
const dateResolutionMs = 1_000;

export async function examineBank({ bank }: Settings): Promise<SetUpFinding[]> {
  const { baseUrl } = bank;
  if (baseUrl === null)
    return [unchecked('bank', 'The sandbox bank starts and stops with the service.')];
  const addresses = Object.assign(new Addresses(), { bankBaseUrl: baseUrl });
  const connections = new BankConnections(addresses);
  try {
    const read = async (file: string | null) => (file === null ? null : readFile(file, 'utf8'));
    const [certificate, key, ca] = await Promise.all(
      [bank.clientCertificateFile, bank.clientKeyFile, bank.caFile].map(read),
    );
    const tls = { certificate: certificate ?? null, key: key ?? null, ca: ca ?? null };
    const { apiKey, apiKeyHeader, accountHeader } = settingsCredentials(bank, tls);
    const before = Date.now();
    const result = await connections.exchange({
      ...{ accountId: 0, tls, isWhitelabel: false, method: 'GET', body: null, deadlineMs },
      pathAndQuery: encodePathAndQuery(listTransactions, { query: { limit: 1, page: 1 } }),
      headers: {
        accept: 'application/json',
        [apiKeyHeader]: apiKey,
        ...(accountHeader ? { [accountHeader.name]: accountHeader.value } : {}),
      },
      sendWithin: null,
    });
    if (!result.hasResponse) {
      const { code, message } = result.error as NodeJS.ErrnoException;
      const advice = 'Correct BANK_BASE_URL, or let this machine reach it (network, proxy, CA).';
      return [failed('bank', `${baseUrl} does not answer (${code ?? message}).`, advice)];
    }
    const { status, date } = result.response;
    return [describeStatus(status, baseUrl), ...describeClock(date, before)];
  } finally {
    connections.onApplicationShutdown();
  }
}

function describeStatus(status: number, baseUrl: string): SetUpFinding {
  if (status < 300) return passed('bank', `${baseUrl} answers, and accepts BANK_API_KEY.`);
  if (status === 401 || status === 403)
    return failed(
      'bank',
      `${baseUrl} refuses BANK_API_KEY (${status}).`,
      'Set BANK_API_KEY, BANK_API_KEY_HEADER and BANK_ACCOUNT_HEADER as the bank gave them.',
    );
  if (status === 404)
    return failed(
      'bank',
      `${baseUrl} has no statement (404): it is not the address of the bank's API.`,
      'Set BANK_BASE_URL to the address before /baas.',
    );
  const message = `${baseUrl} answers ${status} to a read of the statement.`;
  return warned('bank', message, 'Try again; ask the bank if it lasts.');
}

function describeClock(date: Date | null, before: number): SetUpFinding[] {
  if (date === null) return [unchecked('clocks', 'The bank sends no header Date.')];
  const shown = { atLeastMs: date.getTime(), atMostMs: date.getTime() + dateResolutionMs };
  const difference = describeClockDifference("the bank's", shown, [before, Date.now()]);
  if (difference === null) return [passed('clocks', "This machine's clock and the bank's agree.")];
  return [failed('clocks', difference, 'Set this machine to network time (NTP).')];
}
