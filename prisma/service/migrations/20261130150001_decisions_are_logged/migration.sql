-- migrate: outside a transaction
-- Each table is locked in a transaction of its own. What it has already is logged after that. Who
-- writes waits behind a wait for a lock: it ends within a moment, and the script begins again.
DO $$
DECLARE
  logged text[];
  columns text;
BEGIN
  -- What was just logged has no statistics yet, and no pair of rows may be compared.
  PERFORM set_config('enable_nestloop', 'off', false);
  FOREACH logged SLICE 1 IN ARRAY ARRAY[
    ['line_decision', 'sequence', 'true'],
    ['linked_original', 'sequence,ordinal', 'true'],
    ['break_history_entry', 'break_id,sequence', 'NEW.actor IS NOT NULL'],
    ['month_decision', 'month,sequence', 'true'],
    ['rule_version', 'rule_id,version', 'true'],
    ['rule_history_entry', 'id', 'true'],
    ['operation_approval_request', 'operation_id', 'true'],
    ['operation_approval', 'operation_id,holder,actor', 'true'],
    ['audit_entry', 'id', 'NEW.account_id IS NOT NULL'],
    ['approval_policy_change', 'sequence', 'true'],
    ['payment_control_change', 'sequence', 'true'],
    ['refund_policy_history_entry', 'id', 'true'],
    ['account_mode_change', 'sequence', 'true'],
    ['severity_steps_change', 'sequence', 'true'],
    ['credit_days_change', 'sequence', 'true'],
    ['month_policy', 'version', 'true'],
    ['reason_code', 'code,version', 'true'],
    ['price_list', 'version', 'true'],
    ['tariff', 'version,kind', 'true']
  ] LOOP
    PERFORM set_config('lock_timeout', '250ms', true);
    EXECUTE format(
      'CREATE OR REPLACE TRIGGER %I AFTER INSERT ON %I FOR EACH ROW WHEN (%s)
       EXECUTE FUNCTION logs_decision(%s)',
      logged[1] || '_is_logged', logged[1], logged[3],
      (SELECT string_agg(quote_literal(name), ',')
       FROM unnest(string_to_array(logged[2], ',')) name));
    COMMIT;
    SELECT string_agg(format('fact.%I::text', name), ',') INTO columns
    FROM unnest(string_to_array(logged[2], ',')) name;
    EXECUTE format(
      'INSERT INTO decision_log_entry (account_id, kind, key)
       SELECT fact.account_id, %L, ARRAY[%s] FROM %I fact
       WHERE %s AND NOT EXISTS (
         SELECT FROM decision_log_entry e
         WHERE e.account_id = fact.account_id AND e.kind = %1$L AND e.key = ARRAY[%2$s])
       ORDER BY fact.account_id, %2$s',
      logged[1], columns, logged[1], replace(logged[3], 'NEW.', 'fact.'));
    COMMIT;
  END LOOP;
  FOREACH logged SLICE 1 IN ARRAY ARRAY[
    ['api_key', 'fact.account_id', 'fact.id', 'api_key fact'],
    ['operator_role', 'fact.account_id', 'fact.operator_id', 'operator_role fact'],
    ['operator', 'a.id', 'fact.id',
     'operator fact JOIN bank_account a ON fact.role_everywhere IS NOT NULL']
  ] LOOP
    PERFORM set_config('lock_timeout', '250ms', true);
    EXECUTE format(
      'CREATE OR REPLACE TRIGGER %I AFTER INSERT OR UPDATE OR DELETE ON %I FOR EACH ROW
       EXECUTE FUNCTION logs_right()', logged[1] || '_is_logged', logged[1]);
    COMMIT;
    EXECUTE format(
      'INSERT INTO decision_log_entry (account_id, kind, key, detail)
       SELECT %s, %L, ARRAY[%s::text], right_of(%2$L, to_jsonb(fact)) FROM %4$s
       WHERE NOT EXISTS (
         SELECT FROM decision_log_entry e
         WHERE e.account_id = %1$s AND e.kind = %2$L AND e.key = ARRAY[%3$s::text])
       ORDER BY %1$s, %3$s', logged[2], logged[1], logged[3], logged[4]);
    COMMIT;
  END LOOP;
  PERFORM set_config('lock_timeout', '250ms', true);
  EXECUTE 'CREATE OR REPLACE TRIGGER bank_account_is_logged AFTER INSERT ON bank_account
           FOR EACH ROW EXECUTE FUNCTION logs_rights_of_account()';
  PERFORM set_config('enable_nestloop', 'on', false);
  COMMIT;
END $$;
