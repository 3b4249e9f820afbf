"""PPO against an opponent that plays at random, in the style of CleanRL: one file, masked actions, a reward at the end.

The network sees what the player observed this turn and its own pieces, and remembers nothing. ``python ppo.py`` writes
``ppo.csv``, a line for each update, and draws ``ppo.svg``. It needs gm_env, PyTorch and matplotlib.
"""

import argparse

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

WIDTH, RATE, GAMMA, LAMBDA, CLIP, ENTROPY, EPOCHS, MINIBATCHES = 16, 2e-3, 0.99, 0.95, 0.2, 0.01, 3, 8
MOST = 128  # legal actions that it chooses from; a position with more of them is rare


class Agent(nn.Module):
    def __init__(self, planes):
        super().__init__()
        layers = [nn.Conv2d(planes, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 3, padding=1), nn.ReLU()]
        self.body, self.squares, self.rest = nn.Sequential(*layers), nn.Conv2d(WIDTH, 74, 1), nn.Linear(64 * WIDTH, 3)

    def forward(self, observations, legal):
        """Return a distribution over the legal actions (their numbers; -1: none), and the value of what is seen."""
        seen = self.body(observations.clamp(max=1))
        squares, rest = self.squares(seen).flatten(1), self.rest(seen.flatten(1))
        logits = torch.cat([squares[:, : 73 * 64], rest[:, :1], squares[:, 73 * 64 :], rest[:, 1:2]], 1)
        logits = logits.gather(1, legal.clamp(min=0)).masked_fill(legal < 0, -1e9)
        return Categorical(logits=logits, validate_args=False), rest[:, 2]


def list_legal(masks):
    """Return the numbers of legal actions: (games, MOST), -1 where there are no more."""
    found, numbers = torch.as_tensor(masks).topk(MOST)
    return torch.where(found > 0, numbers, -1)


def train(updates, games=64, steps=64, seed=1):
    """Yield for each update how many games were won, lost and drawn."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more of them add little to batches as small as these
    envs = gymnasium.make_vec("gm_env.gymnasium:gmd/RBC-v0", num_envs=games, max_turns=50)
    observed, info = envs.reset(seed=seed)
    agent, over = Agent(observed.shape[1]), np.zeros(games, bool)
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    for _ in range(updates):
        observations, legal = torch.zeros(steps, *observed.shape), torch.zeros(steps, games, MOST, dtype=torch.int64)
        actions, logs, values, rewards, ends, idle = torch.zeros(6, steps, games)
        for step in range(steps):
            observations[step], legal[step] = torch.as_tensor(observed), list_legal(info["action_mask"])
            idle[step] = torch.as_tensor(over)  # a finished game begins anew instead of acting
            with torch.no_grad():
                policy, values[step] = agent(observations[step], legal[step])
            actions[step] = action = policy.sample()
            logs[step] = policy.log_prob(action)
            observed, reward, over, _, info = envs.step(legal[step, range(games), action].numpy())
            rewards[step], ends[step] = torch.as_tensor(reward), torch.as_tensor(over)
        with torch.no_grad():
            later = agent(torch.as_tensor(observed).float(), list_legal(info["action_mask"]))[1]
        advantages, latest = torch.zeros(steps, games), torch.zeros(games)
        for step in reversed(range(steps)):
            latest = rewards[step] + GAMMA * (1 - ends[step]) * (later + LAMBDA * latest) - values[step]
            advantages[step], later = latest, values[step]
        data = observations, legal, actions, logs, advantages, advantages + values
        learn(agent, optimizer, [each.flatten(0, 1)[idle.flatten() == 0] for each in data])
        yield [int((rewards[ends == 1] == result).sum()) for result in (1, -1, 0)]


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


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--updates", type=int, default=80)
    parser.add_argument("--out", default=".", help="the folder of ppo.csv and ppo.svg")
    rows = np.array(list(train((given := parser.parse_args()).updates)))
    np.savetxt(f"{given.out}/ppo.csv", rows, "%d", ",", header="won,lost,drawn", comments="")
    last = [rows[max(0, end - 5) : end].sum(0) for end in range(min(5, len(rows)), len(rows) + 1)]
    for column, name in enumerate(("won", "lost", "drawn")):
        plt.plot(rows.sum(1).cumsum()[-len(last) :], [100 * each[column] / each.sum() for each in last], label=name)
    plt.gca().set(xlabel="games", ylabel="% of the games of the last five updates", ylim=(0, 100))
    plt.legend()
    plt.rcParams["svg.hashsalt"] = "gmd"  # the same plot is the same file
    plt.savefig(f"{given.out}/ppo.svg", metadata={"Date": None})
    print("in the last five updates: won {}, lost {}, drawn {}".format(*last[-1]))
