// An onboarding as the partner that requested it reads it. The masked document is the only personal
// data.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { OperationState, ReportedCustomerStatus } from '../../generated/service/enums.js';
import { instant, integer, text, nameSchemas, ofTheBank } from '../../bank-contract/wire.js';

export const customerView = z.object({
  id: z.string(),
  document: z.string().nullable().describe('The masked CPF or CNPJ.'),
  operationState: z.enum(OperationState),
  reason: z.string().nullable().describe('Why the outcome is unknown, or how it was established.'),
  /** The bank's response; null while there is none. */
  response: z.object({ status: integer, body: ofTheBank }).nullable(),
  bankCustomerId: z.string().nullable().describe("The bank's id; null: its response has none."),
  /**
   * What the bank's last webhook reported about the customer; null while none has. The bank offers
   * no other source.
   */
  reportedStatus: z.enum(ReportedCustomerStatus).nullable(),
  reportedAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
});

export const getCustomerRoute = route({
  name: 'getCustomer',
  chapter: 'Customer creation',
  summary:
    'Returns the outcome of an onboarding by the id of its operation, and whether the bank has ' +
    'approved the customer.',
  method: 'GET',
  path: '/v1/customers/{id}',
  authentication: 'partner-key',
  params: z.object({ id: text(100) }),
  response: customerView,
});

nameSchemas({ Customer: customerView });
