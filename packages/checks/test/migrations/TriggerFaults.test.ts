import { assert, describe, it } from "@effect/vitest"
import { faultsOf, triggersOf } from "../../src/migrations/TriggerFaults.ts"

describe("the triggers of migrations", () => {
  it("are those at the end of all files", () => {
    const found = triggersOf([
      [
        "CREATE TRIGGER first AFTER UPDATE OF name, value ON runs\nFOR EACH ROW EXECUTE FUNCTION note();",
        "CREATE TRIGGER second\nAFTER INSERT OR UPDATE ON marks FOR EACH ROW EXECUTE FUNCTION note();",
        "-- CREATE TRIGGER none AFTER INSERT ON runs",
        "CREATE CONSTRAINT TRIGGER third AFTER INSERT ON views FOR EACH ROW EXECUTE FUNCTION note();",
        "CREATE TRIGGER fourth AFTER INSERT ON views FOR EACH ROW EXECUTE FUNCTION note();"
      ].join("\n"),
      "DROP TRIGGER first ON runs;\nCREATE TRIGGER first AFTER INSERT ON runs EXECUTE FUNCTION note();",
      "DROP TRIGGER IF EXISTS second ON marks;\nDROP TABLE views, other CASCADE;"
    ])
    assert.deepStrictEqual(found, ["first on runs"])
  })

  it("have a reason, and a reason has its trigger", () => {
    const kept = [{ name: "gone", table: "runs", why: "an index" }]
    assert.deepStrictEqual(faultsOf(["first on runs"], kept), [
      "the trigger first on runs has no reason: use a port, or declare why it stays",
      "the trigger gone on runs does not exist any more: remove it from the declaration"
    ])
  })
})
