import { describe, it } from "@effect/vitest"
import { startRuntime } from "@runplane/testing"
import { inPython, modesSuite, onTheWire } from "./ModesSuite.ts"

const runtime = startRuntime({ MACP_MEMORY_ONLY: "1" })

modesSuite("macp-runtime", runtime, onTheWire)

/** An interpreter that has the SDK of the protocol: `npm run test:runtime` installs it. */
const python = process.env["MACP_AGENTS_PYTHON"]
if (python === undefined) {
  describe("a seat among agents of the SDK for Python", () => {
    it.skip("(left out: the SDK for Python could not be installed)", () => undefined)
  })
} else modesSuite("macp-runtime, with the SDK for Python", runtime, inPython(python))
