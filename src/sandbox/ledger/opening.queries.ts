import type { SandboxTx } from '../sandbox-database.service.js';

export interface AccountOpening {
  branch: string;
  number: string;
  holderName: string;
  holderDocument: string;
  holderType: string;
  street: string;
  city: string;
  state: string;
  zipCode: string;
  email: string;
  openingBalanceCents: bigint;
}

/** Opens one of the bank's own accounts. The bank stores no balance for it. */
export async function openInternalAccount(
  tx: SandboxTx,
  { number, holderName }: { number: string; holderName: string },
  at: Date,
): Promise<void> {
  await tx.query(
    `INSERT INTO account (kind, branch, number, holder_name, holder_document, holder_type,
                          created_at)
     VALUES ('internal', '0000', $1, $2, '', 'LEGAL', $3)`,
    [number, holderName, at],
  );
}

/**
 * Opens a customer's account. Its balance chain begins at the opening balance. A movement without a
 * line moves that balance from the bank's capital, so that the statement of a new account is empty.
 */
export async function openAccount(tx: SandboxTx, opening: AccountOpening, at: Date): Promise<void> {
  await tx.query(
    `WITH opened AS (
       INSERT INTO account (kind, branch, number, holder_name, holder_document, holder_type, street,
                            city, state, zip_code, email, opening_balance_cents, balance_cents,
                            created_at)
       VALUES ('customer', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12)
       RETURNING id, opening_balance_cents
     ), funding AS (
       INSERT INTO movement (kind, created_at)
       SELECT 'opening', $12 FROM opened WHERE opening_balance_cents > 0
       RETURNING id
     )
     INSERT INTO entry (movement_id, account_id, change_cents)
     SELECT funding.id, leg.account_id, leg.change_cents
     FROM funding, opened
     CROSS JOIN LATERAL (
       VALUES (opened.id, opened.opening_balance_cents),
              ((SELECT id FROM account WHERE number = 'capital'), -opened.opening_balance_cents)
     ) AS leg (account_id, change_cents)`,
    [
      opening.branch,
      opening.number,
      opening.holderName,
      opening.holderDocument,
      opening.holderType,
      opening.street,
      opening.city,
      opening.state,
      opening.zipCode,
      opening.email,
      opening.openingBalanceCents,
      at,
    ],
  );
}
