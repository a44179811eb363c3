ALTER TABLE "reconciliation_task" VALIDATE CONSTRAINT "reconciliation_task_kind";
