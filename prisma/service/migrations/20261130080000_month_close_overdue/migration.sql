-- An alert about months that are not closed in time.
ALTER TYPE "alert_condition_kind" ADD VALUE 'month_close_overdue';
