// Whether the bank can reach PUBLIC_URL for its webhooks, as far as this machine can find out: its
// name, its addresses, its certificate, and that this service answers behind it.
import { lookup } from 'node:dns/promises';
import { isAddressAllowed } from '../../events/address-guard.js';
import { isLocalhost } from '../../events/host-names.js';
import type { Settings } from '../../platform/settings/config.js';
import { failed, passed, unchecked, warned, type SetUpFinding } from './finding.js';

const subject = 'webhook address';
const deadlineMs = 10_000;
const onlyPublic = { isLoopbackAllowed: false, ownPorts: new Set<number>() };

export async function examinePublicAddress(settings: Settings): Promise<SetUpFinding[]> {
  const { publicUrl, bank } = settings;
  if (publicUrl === null)
    return [passed(subject, 'The sandbox bank of this process reaches it on loopback.')];
  const url = new URL(publicUrl);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isLocalhost(host) ? ['127.0.0.1'] : await listAddresses(host);
  if (addresses.length === 0)
    return [
      failed(subject, `The name ${host} has no address.`, 'Correct PUBLIC_URL, or add it to DNS.'),
    ];
  const isReal = bank.profile !== 'sandbox';
  const findings: SetUpFinding[] = [];
  if (isReal && addresses.some((one) => /^127\.|^::1$|^0\.0\.0\.0$|^::$/.test(one)))
    return [
      failed(
        subject,
        `PUBLIC_URL is ${publicUrl}: loopback, which the bank cannot reach.`,
        'Set PUBLIC_URL to the public https address of the proxy in front of this service.',
      ),
    ];
  if (isReal && addresses.some((one) => !isAddressAllowed(one, 0, onlyPublic)))
    findings.push(
      warned(
        subject,
        `${host} is ${addresses.join(', ')} here: an address of a private network.`,
        'See that the bank finds a public address for this name.',
      ),
    );
  if (isReal && url.protocol !== 'https:')
    findings.push(
      warned(subject, `${publicUrl} is not https.`, 'Serve it with TLS: webhooks carry money.'),
    );
  return [...findings, await probe(publicUrl)];
}

async function listAddresses(host: string): Promise<string[]> {
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

/** Our own route, through the address that the bank uses. */
async function probe(publicUrl: string): Promise<SetUpFinding> {
  try {
    const response = await fetch(`${publicUrl.replace(/\/+$/, '')}/health/live`, {
      ...{ redirect: 'manual', signal: AbortSignal.timeout(deadlineMs) },
    });
    const text = await response.text();
    if (response.ok && text === '{"status":"live"}')
      return passed(subject, `The service answers at ${publicUrl}.`);
    const advice = 'Let the proxy pass every path on to PORT of a process with the role api.';
    if ([502, 503, 504].includes(response.status))
      return warned(
        subject,
        `${publicUrl} answers ${response.status}: no service behind it.`,
        advice,
      );
    return failed(subject, `Another server answers at ${publicUrl} (${response.status}).`, advice);
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    const code = cause?.code ?? message;
    if (/CERT|SELF_SIGNED|ALTNAME|ISSUER/.test(code))
      return failed(
        subject,
        `The certificate of ${publicUrl} is not valid (${code}).`,
        'Renew it, or serve it with its chain.',
      );
    if (code !== 'ECONNREFUSED')
      return unchecked(subject, `${publicUrl} cannot be reached from this machine (${code}).`);
    const advice = 'Start the service, and the proxy in front of it.';
    return warned(subject, `Nothing answers at ${publicUrl} (${code}).`, advice);
  }
}
