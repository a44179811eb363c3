// The API of proofs: what an outsider checks certificates with.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { bigInteger, integer, queryNsu, text, nameSchemas } from '../../bank-contract/wire.js';

const base = { chapter: 'Day closes', method: 'GET' } as const;

const leaf = z.object({
  nsu: bigInteger,
  index: integer.describe('Of the leaf in the tree, from 0.'),
  /** What is hashed after a byte 00: canonical JSON of what the bank showed. */
  text: z.string(),
  /** The siblings from the leaf up to the root, in hexadecimal (RFC 9162, section 2.1.3). */
  path: z.array(z.string()),
});

export const proveLine = route({
  ...base,
  authentication: 'api-key',
  name: 'proveLine',
  summary:
    'Proves by the current certificate of a day that it contains a line, or, by the neighbours of ' +
    'its nsu in the tree, that it does not.',
  path: '/v1/day-closes/{date}/proof',
  params: z.object({ date: text(20) }),
  query: z.object({ nsu: queryNsu }),
  response: z.object({
    date: z.string(),
    nsu: bigInteger,
    isCertified: z.boolean(),
    /** Of the certificate, which states the root. */
    hash: z.string(),
    statementRoot: z.string(),
    lines: integer.describe('The leaves of the tree.'),
    /** The line, or those before and after its nsu. */
    leaves: z.array(leaf),
  }),
});

export const exportCertificates = route({
  ...base,
  chapter: 'Exports',
  authentication: 'api-key',
  name: 'exportCertificates',
  summary:
    'Streams the chain of certificates, each with its lines, as JSON Lines for ' +
    '`@concilia/verifier`.',
  path: '/v1/exports/certificates',
  responseContentTypes: ['text/plain'],
  response: z.string(),
});

export const exportDecisions = route({
  ...base,
  chapter: 'Exports',
  authentication: 'api-key',
  name: 'exportDecisions',
  summary:
    'Streams the log of decisions, rule versions, approvals, rights and policies up to the last ' +
    'certificate. Each line is a leaf of the tree whose root certificates state.',
  path: '/v1/exports/decisions',
  responseContentTypes: ['text/plain'],
  response: z.string(),
});

nameSchemas({ ProofLeaf: leaf });
