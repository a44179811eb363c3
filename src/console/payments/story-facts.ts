// What the story of a payment is put together from. Each list has the newest rows only.
import type {
  ApprovalDecision,
  DeliveryState,
  ExpectedPaymentFactKind,
  MatchRole,
  OperationSource,
  OperationState,
} from '../../generated/service/client.js';

/** A list has as many rows at most; of the attempts, each operation has. */
export const maxStoryRows = 20;

export interface OperationStory {
  id: string;
  kind: string;
  state: OperationState;
  /** A code. */
  reason: string | null;
  source: OperationSource;
  requestedBy: string | null;
  attempts: number;
  createdAt: Date;
  approvedAt: Date | null;
  endedAt: Date | null;
  /** Of its approvals; null where it needed none. */
  needed: number | null;
  expiresAt: Date | null;
}

export interface AttemptStory {
  operationId: string;
  number: number;
  startedAt: Date;
  /** The bank's clock minus ours, in milliseconds; null where it was not measured. */
  clockOffsetMs: bigint | null;
  finishedAt: Date | null;
  outcome: string | null;
  /** The status of the bank's response. */
  status: number | null;
  reason: string | null;
}

export interface DecisionStory {
  operationId: string;
  decision: ApprovalDecision;
  actor: string;
  reason: string;
  createdAt: Date;
}

/** A match with its line. */
export interface MatchStory {
  id: string;
  nsu: bigint;
  isCredit: boolean;
  lineCents: bigint;
  occurredAt: Date;
  recordedAt: Date;
  amountCents: bigint;
  role: MatchRole;
  rule: string;
  madeBy: string | null;
  reason: string | null;
  createdAt: Date;
  unlinkedAt: Date | null;
  unlinkedBy: string | null;
  unlinkReason: string | null;
}

export interface BreakStory {
  id: string;
  kind: string;
  openedAt: Date;
  resolvedAt: Date | null;
  resolution: string | null;
  resolvedBy: string | null;
  resolutionReason: string | null;
}

export interface WebhookStory {
  eventType: string;
  bodyHash: string;
  copies: number;
  receivedAt: Date;
  receivedAtBankTime: Date;
}

export interface EventStory {
  id: string;
  type: string;
  createdAt: Date;
}

export interface DeliveryStory {
  id: string;
  eventId: string;
  type: string;
  endpointId: string;
  url: string;
  state: DeliveryState;
  attempts: number;
  lastStatus: number | null;
  createdAt: Date;
  deliveredAt: Date | null;
}

/** What happened to an expected payment beside the statement. */
export interface PaymentFactStory {
  sequence: bigint;
  kind: ExpectedPaymentFactKind;
  bankTime: Date;
  recordedAt: Date;
}

/** A refund of a payment of a charge, or of another received Pix. */
export interface RefundStory {
  id: string;
  amountCents: bigint;
  createdAt: Date;
}

export interface StoryFacts {
  operations: readonly OperationStory[];
  attempts: readonly AttemptStory[];
  decisions: readonly DecisionStory[];
  matches: readonly MatchStory[];
  breaks: readonly BreakStory[];
  webhooks: readonly WebhookStory[];
  events: readonly EventStory[];
  deliveries: readonly DeliveryStory[];
  paymentFacts: readonly PaymentFactStory[];
  refunds: readonly RefundStory[];
}
