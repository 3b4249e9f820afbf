"""PPO in the style of CleanRL, against an opponent that plays at random: one file, masked actions, a reward at the end.

The network sees what the player observed this turn and its own pieces, and remembers nothing. ``python ppo.py`` prints
its progress, writes ``ppo.csv``, a line for each update, and ``ppo.pt``, the network, and draws ``ppo.svg``. With
``--updates 0 --against BOT`` the network of ``ppo.pt`` plays a bot. It needs gm_env, PyTorch and matplotlib.
"""

import argparse
import time
from pathlib import Path

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

from gm_arena.opponent import BotOpponent

RBC = "gm_env.gymnasium:gmd/RBC-v0"
WIDTH, RATE, GAMMA, LAMBDA, CLIP, ENTROPY, EPOCHS, MINIBATCHES = 16, 2e-3, 0.99, 0.95, 0.2, 0.01, 3, 8
MOST = 128  # legal actions that it chooses from: few positions have more, and all 4,738 take twice the time


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(24, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU()]
        self.body, self.squares, self.rest = nn.Sequential(*layers), nn.Conv2d(WIDTH, 74, 1), nn.Linear(64 * WIDTH, 3)

    def forward(self, observations, legal):
        """Return a distribution over the legal actions (their numbers; -1: none), and the value of what is seen."""
        seen = self.body(observations.float().clamp(max=1))
        squares, rest = self.squares(seen).flatten(1), self.rest(seen.flatten(1))
        moves, senses = squares[:, : 73 * 64], squares[:, 73 * 64 :]
        logits = torch.cat([moves, rest[:, :1], senses, rest[:, 1:2]], 1)  # each with its pass
        logits = logits.gather(1, legal.clamp(min=0)).masked_fill(legal < 0, -1e9)
        return Categorical(logits=logits, validate_args=False), rest[:, 2]


def tensors(observations, masks):
    """Return observations, and the numbers of the legal actions: (games, MOST), -1 where there are no more."""
    found, numbers = torch.as_tensor(masks).topk(MOST)
    return torch.as_tensor(observations), torch.where(found > 0, numbers, -1)


def train(agent, updates, seed=1, games=64, steps=64):
    """Yield for each update how many turns were played, and how many games were won, lost and drawn."""
    torch.manual_seed(seed)
    envs = gymnasium.make_vec(RBC, num_envs=games, max_turns=50)
    observed, info = envs.reset(seed=seed)
    over, optimizer = np.zeros(games, bool), torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    for _ in range(updates):
        observations = torch.zeros(steps, *observed.shape, dtype=torch.uint8)
        legal = torch.zeros(steps, games, MOST, dtype=torch.int64)
        actions, logs, values, rewards, ends, idle = torch.zeros(6, steps, games)
        for step in range(steps):
            observations[step], legal[step] = tensors(observed, info["action_mask"])
            idle[step] = torch.as_tensor(over)  # a finished game begins anew instead of acting
            with torch.no_grad():
                policy, values[step] = agent(observations[step], legal[step])
            actions[step] = action = policy.sample()
            logs[step] = policy.log_prob(action)
            observed, reward, over, _, info = envs.step(legal[step, range(games), action])
            rewards[step], ends[step] = torch.as_tensor(reward), torch.as_tensor(over)
        with torch.no_grad():
            later = agent(*tensors(observed, info["action_mask"]))[1]
        advantages, latest = torch.zeros(steps, games), torch.zeros(games)
        for step in reversed(range(steps)):
            latest = rewards[step] + GAMMA * (1 - ends[step]) * (later + LAMBDA * latest) - values[step]
            advantages[step], later = latest, values[step]
        data = observations, legal, actions, logs, advantages, advantages + values
        learn(agent, optimizer, [each.flatten(0, 1)[idle.flatten() == 0] for each in data])
        yield [int((idle == 0).sum()) // 2, *(int((rewards[ends == 1] == result).sum()) for result in (1, -1, 0))]


def learn(agent, optimizer, data):
    for chosen in [part for _ in range(EPOCHS) for part in torch.randperm(len(data[0])).chunk(MINIBATCHES)]:
        observations, legal, actions, logs, advantages, returns = (each[chosen] for each in data)
        policy, values = agent(observations, legal)
        ratios = (policy.log_prob(actions) - logs).exp()
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        gains = torch.min(ratios * advantages, ratios.clamp(1 - CLIP, 1 + CLIP) * advantages)
        loss = (values - returns).square().mean() / 2 - gains.mean() - ENTROPY * policy.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()


def play(agent, bot, games, seed=1):
    """Yield the result of each game against a bot, or at random without one: 1, 0 or -1."""
    torch.manual_seed(seed)
    env = gymnasium.make(RBC, opponent=BotOpponent(bot) if bot else None, illegal="raise")
    for game in range(games):
        (observed, info), reward, over = env.reset(seed=seed + game), 0.0, False
        while not over:
            observations, legal = tensors(observed[None], info["action_mask"][None])
            with torch.no_grad():
                policy, _ = agent(observations, legal)
            observed, reward, over, _, info = env.step(legal[0, policy.sample()].item())
        yield round(float(reward))
    env.close()


def points(won, lost, drawn):
    return 100 * (won + drawn / 2) / max(1, won + lost + drawn)


def save(agent, rows, folder):
    torch.save(agent.state_dict(), folder / "ppo.pt")
    np.savetxt(folder / "ppo.csv", rows, "%d", ",", header="turns,won,lost,drawn", comments="")
    turns = np.cumsum([row[0] for row in rows]) / 1000
    means = [np.sum(rows[max(0, end - 5) : end], 0)[1:] for end in range(1, len(rows) + 1)]
    plt.plot(turns, [points(*each) for each in means])
    plt.gca().set(xlabel="thousand turns", ylabel="% of the points of the last five updates", ylim=(0, 101))
    plt.grid(alpha=0.3)
    plt.rcParams["svg.hashsalt"] = "gmd"  # the same plot is the same file
    plt.savefig(folder / "ppo.svg", metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(), help="the folder of ppo.csv, ppo.svg and ppo.pt")
    parser.add_argument("--against", metavar="BOT", help="the bot to play after training, instead of random play")
    parser.add_argument("--games", type=int, default=200, help="against it")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # more of them add little to batches as small as these
    torch.manual_seed(given.seed)
    agent, rows = Agent(), []
    if not given.updates:
        agent.load_state_dict(torch.load(given.out / "ppo.pt"))
    for row in train(agent, given.updates, given.seed):
        rows.append(row)
        if len(rows) % 5 == 0:
            turns, *results = np.sum(rows, 0)
            share = points(*np.sum(rows[-5:], 0)[1:])
            said = f"{turns:,} turns, {sum(results):,} games, {share:.1f} % of the points of the last five updates"
            print(f"{said}, {time.process_time():.0f} s", flush=True)
    if rows:
        save(agent, rows, given.out)
    results = []
    for result in play(agent, given.against, given.games, given.seed):
        results.append(result)
        if len(results) % 20 == 0 or len(results) == given.games:
            said = "against {}: won {}, lost {}, drawn {}"
            print(said.format(given.against or "random play", *map(results.count, (1, -1, 0))), flush=True)
