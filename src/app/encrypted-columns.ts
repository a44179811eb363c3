// Every column of the service's database that holds secrets encrypted with CREDENTIALS_KEY. The
// re-encryption and the check of each start read this list. A column that is missing here would be
// unreadable once its key is removed.
//
// Nothing else depends on the key. The service compares API keys, requests, documents, uploaded
// files and bank identities by keyed hashes, and derives the secrets of the bank's webhooks as such
// hashes. Their key is the hashing key of `service_secret`, which is random: only its encryption
// changes when CREDENTIALS_KEY is replaced.
import { credentialsColumn } from '../access/accounts/encrypted-credentials.queries.js';
import { destinationColumn } from '../reporting/alerts/channel-secrets.queries.js';
import { endpointSecretColumn } from '../events/endpoint-secrets.queries.js';
import { responseColumn } from '../access/idempotency/encrypted-responses.queries.js';
import {
  operatorEmailColumn,
  totpSecretColumn,
} from '../access/people/encrypted-operators.queries.js';
import { commentColumn } from '../reconciliation/breaks/break-comments.queries.js';
import type { EncryptedColumn } from '../access/secrets/encrypted-column.js';
import { payeeColumn } from '../outbound/transfers/looked-up-payees.queries.js';
import { serviceSecretColumn } from '../access/secrets/service-secrets.queries.js';
import { relaySecretColumn } from '../webhooks/relays/relay-secrets.queries.js';

export const encryptedColumns: readonly EncryptedColumn[] = [
  serviceSecretColumn,
  credentialsColumn,
  endpointSecretColumn,
  responseColumn,
  relaySecretColumn,
  destinationColumn,
  operatorEmailColumn,
  totpSecretColumn,
  commentColumn,
  payeeColumn,
];
