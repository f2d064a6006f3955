import { call, describeShapes, langGraph, usage } from "./support/Shapes.ts"
import { agent, chat, openInference, span, spanId, TRACE_ID, tool } from "./support/Spans.ts"

describeShapes("agents of emitters without a recording", {
  "Strands: a swarm with its older token names and cycles of an event loop": {
    spans: [
      span("swarm", [0, 99], { "gen_ai.operation.name": "invoke_swarm", "gen_ai.agent.name": "committee" }),
      span("a", [1, 50], { ...agent("lead"), "gen_ai.usage.prompt_tokens": 30 }, { parent: "swarm" }),
      span("loop", [2, 40], { "gen_ai.operation.name": "execute_event_loop_cycle" }, { parent: "a" }),
      span(
        "c",
        [3, 9],
        {
          "gen_ai.operation.name": "chat",
          "gen_ai.system": "strands-agents",
          "gen_ai.request.model": "gpt-4o",
          "gen_ai.usage.prompt_tokens": 10,
          "gen_ai.usage.input_tokens": 10,
          "gen_ai.usage.completion_tokens": 2,
          "gen_ai.usage.output_tokens": 2,
          "gen_ai.usage.total_tokens": 32,
          "gen_ai.usage.cache_read_input_tokens": 20
        },
        { parent: "loop" }
      ),
      span("t", [10, 11], tool("handoff_to_agent", { "gen_ai.tool.call.arguments": '{"agent_name": "sre"}' }), {
        parent: "loop"
      }),
      span("b", [51, 60], agent("sre"), { parent: "swarm" })
    ],
    says: {
      name: "committee",
      participants: ["lead", "sre"],
      calls: [call("lead", usage(30, 2, { cacheRead: 20 }))],
      handoffs: ["lead > sre"],
      tools: []
    }
  },
  "LangGraph by OpenLLMetry: tasks with the checkpoint namespace": {
    spans: [
      span(
        "w",
        [0, 99],
        { "traceloop.span.kind": "workflow", "traceloop.entity.name": "LangGraph" },
        {
          name: "LangGraph.workflow"
        }
      ),
      span(
        "n",
        [1, 50],
        {
          "traceloop.span.kind": "task",
          "traceloop.entity.name": "researcher",
          "traceloop.association.properties.langgraph_checkpoint_ns": "researcher:1",
          "traceloop.association.properties.thread_id": "t1"
        },
        { parent: "w", name: "researcher.task" }
      ),
      span(
        "r",
        [2, 3],
        { "traceloop.span.kind": "task", "traceloop.entity.name": "RunnableSequence" },
        { parent: "n" }
      ),
      span(
        "c",
        [3, 9],
        {
          "llm.request.type": "chat",
          "gen_ai.system": "Langchain",
          "gen_ai.response.model": "gpt-4o",
          "gen_ai.usage.prompt_tokens": 10,
          "gen_ai.usage.completion_tokens": 2,
          "llm.usage.total_tokens": 12
        },
        { parent: "r", name: "ChatOpenAI.chat" }
      ),
      span(
        "router",
        [60, 61],
        {
          "traceloop.span.kind": "task",
          "traceloop.association.properties.langgraph_checkpoint_ns": "router:2"
        },
        { parent: "w", name: "router.task" }
      )
    ],
    says: {
      name: "LangGraph",
      participants: ["researcher"],
      invocations: ["researcher"],
      calls: [call("researcher", usage(10, 2))]
    }
  },
  "LangGraph: an agent alone, whose nodes are only steps": {
    spans: [
      span("g", [0, 99], openInference("CHAIN", langGraph("")), { name: "support" }),
      span("m", [1, 9], openInference("CHAIN", langGraph("model:1")), { parent: "g", name: "model" }),
      span("c", [2, 8], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 4 }), {
        parent: "m"
      })
    ],
    says: { name: "support", participants: ["shop"], invocations: [], calls: [call("shop", usage(4, 0))] }
  },
  "LangGraph: a supervisor that calls agents by tools": {
    spans: [
      span("g", [0, 99], openInference("CHAIN", langGraph("", { lc_agent_name: "boss" })), { name: "boss" }),
      span("m", [1, 9], openInference("CHAIN", langGraph("model:1", { lc_agent_name: "boss" })), { parent: "g" }),
      span("c1", [2, 8], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 4 }), {
        parent: "m"
      }),
      span("t", [10, 50], openInference("TOOL", { "tool.name": "call_sre" }), { parent: "g" }),
      span("s", [11, 49], openInference("CHAIN", langGraph("tools:2", { lc_agent_name: "sre" })), { parent: "t" }),
      span("c2", [12, 20], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 5 }), {
        parent: "s"
      })
    ],
    says: {
      name: "boss",
      participants: ["boss", "sre"],
      invocations: ["boss", "sre"],
      handoffs: ["boss > sre"],
      calls: [call("boss", usage(4, 0)), call("sre", usage(5, 0))],
      tools: [{ name: "call_sre", agent: "boss", ok: true }]
    }
  },
  "OpenAI Agents by OpenLLMetry: handoffs with an arrow": {
    spans: [
      span("w", [0, 99], { "traceloop.span.kind": "workflow", "traceloop.entity.name": "Agent Workflow" }),
      span(
        "a",
        [1, 20],
        { "traceloop.span.kind": "agent", "gen_ai.agent.name": "lead" },
        { parent: "w", name: "lead.agent" }
      ),
      span(
        "c",
        [2, 9],
        { "llm.request.type": "chat", "gen_ai.request.model": "gpt-4o" },
        { parent: "a", name: "openai.response" }
      ),
      span("h", [10, 11], { "traceloop.span.kind": "handoff" }, { parent: "a", name: "lead → sre.handoff" }),
      span(
        "b",
        [21, 40],
        { "traceloop.span.kind": "agent", "gen_ai.agent.name": "sre" },
        { parent: "w", name: "sre.agent" }
      )
    ],
    says: {
      participants: ["lead", "sre"],
      handoffs: ["lead > sre"],
      calls: [call("lead", undefined)],
      invocations: ["lead", "sre"]
    }
  },
  "smolagents: the name before the method": {
    spans: [
      span("r", [0, 99], openInference("AGENT", { "output.value": "42" }), { name: "CodeAgent.run" }),
      span("s", [1, 50], openInference("CHAIN"), { parent: "r", name: "Step 1" }),
      span("c", [2, 9], openInference("LLM", { "llm.model_name": "gpt-4o", "llm.token_count.prompt": 3 }), {
        parent: "s",
        name: "OpenAIServerModel.generate"
      }),
      span("t", [10, 11], openInference("TOOL", { "tool.name": "search" }), { parent: "s", name: "SimpleTool" })
    ],
    says: {
      name: "CodeAgent",
      participants: ["CodeAgent"],
      finalAnswer: "42",
      tools: [{ name: "search", agent: "CodeAgent", ok: true }]
    }
  },
  "Agno: a team whose nodes have numbers": {
    spans: [
      span(
        "team",
        [0, 99],
        openInference("AGENT", { "graph.node.id": "0f8e4c1a9b7d6e5f", "graph.node.name": "Team" }),
        {
          name: "Team.run"
        }
      ),
      span(
        "m",
        [1, 40],
        openInference("AGENT", {
          "graph.node.id": "1a8e4c1a9b7d6e5f",
          "graph.node.name": "Finance Agent",
          "graph.node.parent_id": "0f8e4c1a9b7d6e5f"
        }),
        { parent: "team", name: "Finance Agent.run" }
      )
    ],
    says: { participants: ["Finance Agent", "Team"], handoffs: ["Team > Finance Agent"] }
  },
  "AutoGen: roots that link to each other in one run": {
    spans: [
      span("p1", [0, 9], { "messaging.operation": "process" }),
      span("a", [1, 8], agent("writer"), { parent: "p1" }),
      span(
        "p2",
        [10, 19],
        { "messaging.operation": "process" },
        {
          traceId: "1".repeat(32),
          links: [{ traceId: TRACE_ID, spanId: spanId("a"), attributes: {} }]
        }
      ),
      span("b", [11, 18], agent("critic"), { parent: "p2", traceId: "1".repeat(32) })
    ],
    says: { participants: ["critic", "writer"], status: "completed" }
  },
  "Semantic Kernel: an older operation and a handoff by a plugin": {
    spans: [
      span("a", [0, 50], agent("triage"), { name: "invoke_agent triage" }),
      span("c", [1, 9], { ...chat(10, 2), "gen_ai.operation.name": "chat.completions" }, { parent: "a" }),
      span("t", [10, 11], tool("Handoff-transfer_to_refund"), { parent: "a" })
    ],
    says: { participants: ["triage"], handoffs: ["triage > refund"], calls: [call("triage", usage(10, 2))], tools: [] }
  }
})
