import type { SandboxTx } from '../sandbox-database.service.js';

/** The figures that the checks compare, computed from entries and statement lines alone. */
const auditFigures = `
  WITH legs AS (
    SELECT movement.id, count(entry.movement_id) AS legs,
           coalesce(sum(entry.change_cents), 0) AS total
    FROM movement LEFT JOIN entry ON entry.movement_id = movement.id
    GROUP BY movement.id
  ), customer AS (
    SELECT id, number, opening_balance_cents, balance_cents, last_nsu, tail_nsu
    FROM account WHERE kind = 'customer'
  ), sums AS (
    SELECT customer.number, customer.balance_cents, coalesce(sum(entry.change_cents), 0) AS total
    FROM customer LEFT JOIN entry ON entry.account_id = customer.id
    GROUP BY customer.number, customer.balance_cents
  ), openings AS (
    SELECT customer.number, customer.opening_balance_cents,
           coalesce(sum(entry.change_cents), 0) AS total
    FROM customer
    LEFT JOIN (entry JOIN movement ON movement.id = entry.movement_id AND movement.kind = 'opening')
      ON entry.account_id = customer.id
    GROUP BY customer.number, customer.opening_balance_cents
  ), chain AS (
    SELECT customer.number, line.nsu, line.change_cents, line.balance_previous_cents,
           line.current_balance_cents, line.created_at,
           coalesce(earlier.current_balance_cents, customer.opening_balance_cents) AS expected,
           earlier.created_at AS earlier_created_at,
           line.previous_nsu IS NOT NULL AND earlier.nsu IS NULL AS is_detached,
           coalesce(line.movement_id <= earlier.movement_id, false) AS is_misordered
    FROM statement_line AS line
    JOIN customer ON customer.id = line.account_id
    LEFT JOIN statement_line AS earlier
      ON earlier.account_id = line.account_id AND earlier.nsu = line.previous_nsu
  ), ends AS (
    SELECT customer.number, customer.balance_cents, customer.last_nsu, customer.tail_nsu,
           coalesce(highest.nsu, 0) AS highest_nsu, tail.nsu AS found_tail_nsu,
           coalesce(tail.current_balance_cents, customer.opening_balance_cents) AS chain_end
    FROM customer
    LEFT JOIN LATERAL (
      SELECT nsu FROM statement_line WHERE account_id = customer.id ORDER BY nsu DESC LIMIT 1
    ) AS highest ON true
    LEFT JOIN statement_line AS tail
      ON tail.account_id = customer.id AND tail.nsu = customer.tail_nsu
  ), forks AS (
    SELECT customer.number,
           count(*) FILTER (WHERE line.previous_nsu IS NULL) AS beginnings,
           count(*) - count(DISTINCT line.previous_nsu) AS extra
    FROM statement_line AS line JOIN customer ON customer.id = line.account_id
    GROUP BY customer.number
  )`;

/** One row for each broken rule. */
const problems = `
  SELECT 'the book does not sum to zero: ' || sum(change_cents) AS problem
    FROM entry HAVING sum(change_cents) <> 0
  UNION ALL
  SELECT 'movement ' || id || ' has ' || legs || ' legs that sum to ' || total || ' cents'
    FROM legs WHERE legs < 2 OR total <> 0
  UNION ALL
  SELECT 'account ' || number || ' holds ' || balance_cents
         || ' cents, its entries sum to ' || total
    FROM sums WHERE balance_cents <> total
  UNION ALL
  SELECT 'account ' || number || ' opened with ' || opening_balance_cents
         || ' cents, was funded with ' || total
    FROM openings WHERE opening_balance_cents <> total
  UNION ALL
  SELECT 'account ' || number || ' is negative' FROM customer WHERE balance_cents < 0
  UNION ALL
  SELECT checks.problem
    FROM (
      SELECT * FROM chain
      WHERE balance_previous_cents <> expected OR is_detached
            OR balance_previous_cents + change_cents <> current_balance_cents
            OR created_at < earlier_created_at OR is_misordered
    ) AS wrong
    CROSS JOIN LATERAL (
      VALUES (balance_previous_cents <> expected OR is_detached,
              'account ' || number || ', nsu ' || nsu
              || ': previous balance ' || balance_previous_cents
              || ', the line before ends at ' || expected),
             (balance_previous_cents + change_cents <> current_balance_cents,
              'account ' || number || ', nsu ' || nsu || ': balances do not differ by the amount'),
             (created_at < earlier_created_at,
              'account ' || number || ', nsu ' || nsu || ': created earlier than the line before'),
             -- Lines that follow each other in a circle pass every other check.
             (is_misordered,
              'account ' || number || ', nsu ' || nsu || ': moved earlier than the line before')
    ) AS checks (is_wrong, problem)
    WHERE checks.is_wrong
  UNION ALL
  SELECT 'account ' || number || ' holds ' || balance_cents
         || ' cents, its chain of lines ends with ' || chain_end
         || ' at nsu ' || coalesce(tail_nsu, 0)
    FROM ends WHERE balance_cents <> chain_end OR tail_nsu IS DISTINCT FROM found_tail_nsu
  UNION ALL
  SELECT 'account ' || number || ' assigned nsu ' || last_nsu
         || ', its highest line has ' || highest_nsu
    FROM ends WHERE last_nsu <> highest_nsu
  UNION ALL
  SELECT 'account ' || number || ': its lines are not one chain'
    FROM forks WHERE beginnings <> 1 OR extra <> 1
  UNION ALL
  SELECT 'movement ' || entry.movement_id
         || ' is missing on the statement of ' || customer.number
    FROM entry
    JOIN customer ON customer.id = entry.account_id
    WHERE NOT EXISTS (SELECT FROM statement_line AS line
                      WHERE line.movement_id = entry.movement_id
                        AND line.account_id = entry.account_id)
      AND EXISTS (SELECT FROM movement WHERE id = entry.movement_id AND kind = 'ordinary')`;

/**
 * Recomputes the whole ledger from entries and lines and returns a sentence for each broken rule.
 * Stored balances are only compared, never used as input. Returns at most 100 problems.
 */
export async function auditLedger(tx: SandboxTx): Promise<string[]> {
  // With the default work_mem PostgreSQL sorts a ledger of a million lines on disk.
  await tx.query(`SELECT set_config('work_mem', '64MB', true)`);
  const rows = await tx.query<{ problem: string }>(
    `${auditFigures} SELECT problem FROM (${problems}) AS found LIMIT 100`,
  );
  return rows.map((row) => row.problem);
}
