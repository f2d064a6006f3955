import { longSessionSuite } from "./RuntimeSuite.ts"
import { layerSandboxDevelopment } from "./SandboxUnderTest.ts"

longSessionSuite("the sandbox under development authentication", layerSandboxDevelopment)
